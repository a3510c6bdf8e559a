// SPDX-License-Identifier: Apache-2.0
//
// A made-up training as a trace, and what a sink is told of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/export/formats/export_process.h"
#include "analyzer/export/formats/sink.h"
#include "analyzer/trace/reader/reader.h"
#include "tests/unit/support/trace_builder.h"

namespace memtrace::test {

// Random sizes, some larger than the rounded request; what autograd keeps, what the program keeps
// of that for a step longer, parameters, gradients, what is freed at once. All of it in one slot.
class made_up_training {
 public:
  explicit made_up_training(unsigned seed, int steps = 4) : random_(seed) {
    trace.info("rank", "3");
    trace.context(0, trace.thread(1, "MainThread"));
    lines_ =
        trace.stack({test_frame{"train.py", 20, "main"}, test_frame{"train.py", 9, "forward"}});
    net_ = trace.object(0x1000);
    layer_ = trace.object(0x1010);
    trace.module(net_, net_, "", "Net").module(layer_, net_, "layers.0", "Linear");
    trace.segment(segment, 64_MiB);
    const auto weight = allocate(100'000);
    trace.storage(format::storage_role::parameter, weight,
                  {.name = "layers.0.weight", .object = net_});
    for (int step = 0; step < steps; ++step) run_step();
  }

  static constexpr std::uint64_t segment = 0x7f0000000000;
  static constexpr std::uint64_t unrecorded = 2_MiB;  // allocated before the recording began

  trace_builder trace;
  // After each of the allocator's events: bytes that are allocated, by its number.
  std::map<std::uint64_t, std::uint64_t> allocated;

 private:
  [[nodiscard]] std::uint64_t below(std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most - 1)(random_);
  }

  std::uint64_t allocate(std::uint64_t size) {
    const auto address = segment + next_;
    next_ += 1u << 19;
    const bool is_first = held_ == 0;
    if (is_first) held_ = unrecorded;
    auto bytes = (size + 511) / 512 * 512;
    if (!is_first && below(3) == 0) bytes += 512 * below(9);
    held_ += bytes;
    trace.record(format::kind::alloc, address, size, lines_);
    if (is_first) {
      trace.report_totals(held_, 64_MiB);
    } else {
      trace.report_block(static_cast<std::int64_t>(bytes));
    }
    live_[address] = {size, bytes};
    allocated[trace.events() - 1] = held_;
    return address;
  }

  void free(std::uint64_t address) {
    const auto [size, bytes] = live_.at(address);
    held_ -= bytes;
    trace.record(format::kind::free_requested, address, size);
    trace.report_block(-static_cast<std::int64_t>(bytes));
    allocated[trace.events() - 1] = held_;
    trace.record(format::kind::free_completed, address, size);
    allocated[trace.events() - 1] = held_;
    live_.erase(address);
  }

  void run_step() {
    const scope_numbers forward{
        .flags = format::scope_grad, .module = layer_, .root = net_, .forward = 0, .node = {}};
    trace.scope(forward);
    std::vector<std::uint64_t> kept;
    for (auto i = 2 + below(4); i != 0; --i) {
      kept.push_back(allocate(1 + below(60'000)));
      trace.saved(kept.back(), {.bytes = 512, .dimensions = 2});
      if (below(2) == 0) free(allocate(1 + below(90'000)));
    }
    trace.scope({});
    trace.phase(format::phase_action::begin, format::phase_source::backward);
    trace.scope(
        {.flags = format::scope_backward, .module = layer_, .root = net_, .node = "MmBackward0"});
    const auto gradient = allocate(100'000);
    for (std::size_t i = 1; i < kept.size(); ++i) free(kept[i]);
    trace.scope({});
    trace.phase(format::phase_action::end, format::phase_source::backward);
    trace.phase(format::phase_action::begin, format::phase_source::optimizer_step, net_);
    free(allocate(1 + below(5'000)));
    trace.phase(format::phase_action::end, format::phase_source::optimizer_step, net_);
    trace.step(format::step_source::user);
    free(gradient);
    // The program holds a part of its results until the next step's replace them.
    if (held_by_program_ != 0) free(std::exchange(held_by_program_, 0));
    held_by_program_ = kept.front();
  }

  std::mt19937 random_;
  std::uint64_t next_ = 0;
  std::uint64_t held_ = 0;
  std::uint64_t held_by_program_ = 0;
  std::uint64_t lines_ = 0;
  std::uint64_t net_ = 0;
  std::uint64_t layer_ = 0;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> live_;  // size, bytes of block
};

// Remembers everything.
class told_sink final : public exporting::sink {
 public:
  using by_category = attribution::by_category<std::uint64_t>;

  void carried(const exporting::block& one) override {
    live[one.serial] = one;
    ++carried_blocks;
  }
  void happened(const exporting::allocator_event& event, const exporting::block* one,
                const exporting::moment& now) override {
    if (one != nullptr && event.kind == format::kind::alloc) live[one->serial] = *one;
    if (one != nullptr && event.kind != format::kind::alloc) live.erase(one->serial);
    moments[event.number] = now;
    sums[event.number] = held();
  }
  void became(const exporting::block& one, attribution::category before,
              const exporting::moment&) override {
    changed.emplace_back(one.serial, before, one.what);
    live[one.serial] = one;
  }
  void end(const exporting::process&, const std::vector<exporting::moment>& at_end) override {
    last = at_end;
    ended = true;
  }
  [[nodiscard]] std::optional<std::string> finish() override { return std::nullopt; }

  [[nodiscard]] by_category held() const {
    by_category found;
    for (const auto& [serial, one] : live) found[one.what] += one.bytes;
    found[attribution::category::unknown] += unrecorded;
    return found;
  }

  std::uint64_t unrecorded = made_up_training::unrecorded;
  std::map<std::uint64_t, exporting::block> live;
  std::map<std::uint64_t, exporting::moment> moments;  // by event
  std::map<std::uint64_t, by_category> sums;           // of the blocks that lived then
  std::vector<std::tuple<std::uint64_t, attribution::category, attribution::category>> changed;
  std::vector<exporting::moment> last;
  std::size_t carried_blocks = 0;
  bool ended = false;
};

// A trace in memory, exported.
class opened_trace {
 public:
  explicit opened_trace(const trace_builder& trace)
      : bytes_(trace.bytes()), source_(std::as_bytes(std::span(bytes_))) {
    auto opened = trace::reader::open(source_);
    reader.emplace(std::move(*opened));
  }
  exporting::exported tell(exporting::sink& to, const exporting::chosen& wanted = {}) {
    auto again = reader->again();
    return exporting::export_process("made.mtrace", again, to, wanted, {}, {},
                                     [] { return false; });
  }
  [[nodiscard]] run::process_report load(std::optional<run::wanted_moment> at = {}) {
    auto again = reader->again();
    run::load_options how;
    how.at = at;
    return run::load("made.mtrace", again, how);
  }

  std::optional<trace::reader> reader;

 private:
  byte_vector bytes_;
  trace::memory_source source_;
};

}  // namespace memtrace::test
