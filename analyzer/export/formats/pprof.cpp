// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/text/units.h"
#include "analyzer/export/formats/held_blocks.h"
#include "analyzer/export/formats/pprof_profile.h"

namespace memtrace::exporting {

namespace {

enum class kind : std::uint8_t { inuse, growth, moment, alloc };
constexpr std::array kinds = {std::pair{kind::inuse, "inuse"}, std::pair{kind::growth, "growth"},
                              std::pair{kind::moment, "moment"}, std::pair{kind::alloc, "alloc"}};
constexpr std::size_t step_of_states = 1;  // after it optimizers have their states

struct pprof_sample {
  std::array<std::uint64_t, 2 * kinds.size()> values{};
  void add(kind what, std::uint64_t blocks, std::uint64_t bytes) {
    const auto at = 2 * static_cast<std::size_t>(what);
    values[at] += blocks;
    values[at + 1] += bytes;
  }
};

class pprof final : public sink {
 public:
  explicit pprof(destination& to)
      : to_(to),
        held_([this](const moment& at, const std::vector<block>& blocks) { reached(at, blocks); }) {
    for (const auto& [what, name] : kinds) {
      profile_.add_type(fmt::format("{}_objects", name), "count");
      profile_.add_type(fmt::format("{}_space", name), "bytes");
    }
    profile_.set_default("inuse_space");
  }

  void begin(const process& from) override {
    from_ = &from;
    if (from.number == 0) {
      profile_.set_time(from.report.run.started_ns, from.report.run.duration_ns);
    }
    for (const auto& device : from.report.devices) {
      const auto index = device.facts.device;
      if (device.at_peak.total != 0) want(index, device.at_peak.event, kind::inuse);
      if (from.at) want(index, *from.at, kind::moment);
      const auto& steps = device.steps.steps;
      if (steps.size() > step_of_states + 1) {
        want(index, steps.back().end_event, kind::growth);
        grows_after_[index] = steps[step_of_states].end_event;
      }
      comment(device);
    }
  }
  void carried(const block& one) override { held_.carried(one); }
  void happened(const allocator_event& event, const block* one, const moment& now) override {
    held_.happened(event, one, now);
    if (one != nullptr && event.kind == format::kind::alloc) {
      samples_[key_of(*one, false)].add(kind::alloc, 1, one->bytes);
    }
  }
  void became(const block& one, attribution::category, const moment& now) override {
    held_.became(one, now);
  }

  void end(const process& from, const std::vector<moment>&) override {
    held_.end();
    for (const auto& [which, sample] : samples_) {
      profile_.add_sample(told_stack(from, which.stack),
                          {sample.values.begin(), sample.values.end()}, labels_of(which));
    }
    for (const auto& [device, sample] : unrecorded_) {
      profile_.add_sample({{"allocated before the recording, or lost", {}, 0}},
                          {sample.values.begin(), sample.values.end()},
                          {{"category", "unknown", 0},
                           {"device", fmt::format("cuda:{}", device), 0},
                           {"process", process_words(from.report), 0}});
    }
    samples_.clear();
    unrecorded_.clear();
    wanted_.clear();
    grows_after_.clear();
  }

  [[nodiscard]] std::optional<std::string> finish() override {
    const auto bytes = profile_.take();
    if (bytes.empty()) return "there is no memory to compress it";
    to_.write(bytes);
    return std::nullopt;
  }

 private:
  // Blocks with the same key are one sample.
  struct sample_key {
    stack_key stack;
    std::uint32_t device = 0;
    attribution::category what{};
    attribution::evidence how{};
    attribution::phase born_in{};
    std::uint32_t module = 0;
    trace::text_id name;
    std::optional<std::uint64_t> step;
    [[nodiscard]] auto operator<=>(const sample_key&) const = default;
  };

  void want(std::uint32_t device, std::uint64_t event, kind what) {
    held_.watch(device, event);
    wanted_[{device, event}].insert(what);
  }

  void comment(const run::device_report& device) {
    profile_.add_comment(fmt::format("{}, cuda:{} {}: peak allocated {}, peak reserved {}",
                                     process_words(from_->report), device.facts.device, device.name,
                                     text::format_bytes(device.peak_allocated.totals.allocated),
                                     text::format_bytes(device.peak_reserved.totals.reserved)));
  }

  // Steps would make a sample of every step of what is counted over the whole run.
  [[nodiscard]] static sample_key key_of(const block& one, bool with_step) {
    sample_key key;
    key.stack = stack_of(one);
    key.device = one.device;
    key.what = one.what;
    key.how = one.how;
    key.born_in = one.born_in;
    key.module = one.module;
    if (one.fate != nullptr) key.name = one.fate->name;
    if (with_step) key.step = one.step;
    return key;
  }

  void reached(const moment& at, const std::vector<block>& blocks) {
    for (const auto what : wanted_[{at.device, at.event}]) {
      std::uint64_t recorded = 0;
      for (const auto& one : blocks) {
        recorded += one.bytes;
        if (what == kind::growth && one.born_event <= grows_after_[at.device]) continue;
        samples_[key_of(one, true)].add(what, 1, one.bytes);
      }
      if (what == kind::growth || at.allocated <= recorded) continue;
      unrecorded_[at.device].add(what, 0, at.allocated - recorded);
    }
  }

  [[nodiscard]] std::vector<pprof_label> labels_of(const sample_key& which) const {
    std::vector<pprof_label> labels = {
        {"category", std::string(name_of(which.what)), 0},
        {"evidence", std::string(name_of(which.how)), 0},
        {"device", fmt::format("cuda:{}", which.device), 0},
        {"phase", std::string(name_of(which.born_in)), 0},
        {"process", process_words(from_->report), 0},
    };
    block one;
    one.device = which.device;
    one.module = which.module;
    if (auto module = module_of(*from_, one); !module.empty()) {
      labels.push_back({"module", std::move(module), 0});
    }
    if (which.name) labels.push_back({"name", std::string(from_->names[which.name]), 0});
    if (which.step) labels.push_back({"step", {}, *which.step});
    return labels;
  }

  destination& to_;
  pprof_profile profile_;
  held_blocks held_;
  // About the process at hand.
  const process* from_ = nullptr;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::set<kind>> wanted_;  // by device, event
  std::map<std::uint32_t, std::uint64_t> grows_after_;                        // event, by device
  std::map<sample_key, pprof_sample> samples_;
  std::map<std::uint32_t, pprof_sample> unrecorded_;  // by device
};

}  // namespace

std::unique_ptr<sink> make_pprof(destination& to, const options&) {
  return std::make_unique<pprof>(to);
}

}  // namespace memtrace::exporting
