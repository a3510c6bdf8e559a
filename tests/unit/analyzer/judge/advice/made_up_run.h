// SPDX-License-Identifier: Apache-2.0
//
// Evidence of a run that never was: blocks made and freed by hand. Sizes are bytes, as requested.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/judge/blocks/evidence.h"

namespace memtrace::tests {

using allocator::block_number;
using attribution::category;
using attribution::phase;

constexpr std::uint64_t mib = 1u << 20;

// Bytes allocated at once, at most, without any rounding.
inline std::uint64_t peak_of(const allocator::request_log& log) {
  std::map<block_number, std::uint64_t> alive;
  std::uint64_t now = 0;
  std::uint64_t most = 0;
  for (const auto& one : log.requests) {
    if (one.what() == allocator::action::allocate) {
      alive[one.block] = one.size;
      now += one.size;
    } else if (one.what() == allocator::action::free) {
      now -= alive[one.block];
      alive.erase(one.block);
    }
    most = std::max(most, now);
  }
  return most;
}

class made_up_run {
 public:
  // A module of the model whose root is the first that is named.
  trace::object_id module(const std::string& path, const std::string& type) {
    (void)names_.define_object(0x1000 + modules_.size());
    const auto object = names_.last_object();
    if (!root_) root_ = object;
    modules_[object] = {root_, text(path), text(type), false};
    return object;
  }

  trace::text_id text(const std::string& words) {
    const auto [known, fresh] = texts_.try_emplace(words, trace::text_id{});
    if (fresh) {
      (void)names_.define_text(words);
      known->second.value = static_cast<std::uint32_t>(texts_.size());
    }
    return known->second;
  }

  // A line of the user's program; called by nobody, where it is not said by whom.
  trace::stack_id line(const std::string& file, std::uint32_t number,
                       const std::string& function = "main", trace::stack_id caller = {}) {
    const auto in = text("/src/" + file);
    (void)names_.define_frame(in.value, text(function).value, number);
    (void)names_.define_stack(caller.value, ++frames_);
    return trace::stack_id{++stacks_};
  }

  // What the program's file has, as its trace says.
  void source(const std::string& file, const std::string& program) {
    record::source<trace::ids> said;
    said.file = text("/src/" + file);
    said.bytes = program.size();
    said.text = program;
    (void)names_.add_source(said);
  }

  // The properties that the blocks that follow have in common.
  struct place {
    phase during = phase::other;
    trace::object_id module;
    trace::stack_id stack;
    std::uint32_t call = 0;
  } at;

  block_number make(category what, std::uint64_t bytes) {
    blocks::block_facts facts;
    facts.what = what;
    facts.born_in = at.during;
    facts.evaluation = at.during == phase::evaluation;
    facts.module = at.module;
    facts.root = root_;
    facts.stack = at.stack;
    facts.call = at.call;
    facts.generation = static_cast<std::uint32_t>(step_ends_.size());
    const auto block = static_cast<block_number>(blocks_.size());
    log_.allocations.push_back(static_cast<std::uint32_t>(log_.requests.size()));
    log_.addresses.push_back(0x7f0000000000 + block);
    blocks_.push_back(facts);
    request(allocator::action::allocate, block, bytes);
    return block;
  }
  // Autograd keeps it in 32 bits.
  block_number keep(std::uint64_t bytes, category what = category::activations) {
    const auto block = make(what, bytes);
    blocks_[block].kept_by_autograd = true;
    blocks_[block].element_bits = 32;
    return block;
  }
  // The operation that makes `by` keeps it, as its operand; its own operation, where they are one.
  void kept_by(block_number block, block_number by) {
    made_.keepings.push_back({event_of(block), event_of(by), block == by});
  }
  // Backward makes it for what `forward` made. An optimizer has the parameter of a gradient.
  block_number gradient_of(block_number forward, const std::string& node, category what,
                           std::uint64_t bytes) {
    at.module = blocks_[forward].module;
    const auto block = make(what, bytes);
    blocks_[block].forward = blocks_[forward].stack;
    blocks_[block].stack = {};
    blocks_[block].node = text(node);
    blocks_[block].seen_by_optimizer = what == category::gradients;
    return block;
  }
  block_number weight(const std::string& name, std::uint64_t bytes) {
    const auto block = make(category::weights, bytes);
    blocks_[block].name = text(name);
    blocks_[block].element_bits = 32;
    return block;
  }
  void free(block_number block) {
    blocks_[block].free_request = static_cast<std::uint32_t>(log_.requests.size());
    blocks_[block].death_step = static_cast<std::uint32_t>(step_ends_.size());
    blocks_[block].freed_in_backward = at.during == attribution::phase::backward;
    request(allocator::action::free, block, 0);
  }
  void free(const std::vector<block_number>& all) {
    for (const auto block : all) free(block);
  }
  void end_step(attribution::step_boundary by = attribution::step_boundary::optimizer) {
    step_ends_.push_back(static_cast<std::uint32_t>(log_.requests.size()));
    attributed_.devices[log_.device].steps.boundary = by;
  }
  blocks::block_facts& operator[](block_number block) { return blocks_[block]; }

  // Once, when all is made: what refers to this run must not outlive it.
  [[nodiscard]] const blocks::evidence& evidence() {
    made_.blocks = blocks::fact_list(blocks_);
    made_.step_ends = step_ends_;
    made_.modules = modules_;
    const auto peak = peak_of(log_);
    allocator::request_log until = log_;
    while (!until.requests.empty() && peak_of(until) == peak) {
      until.requests.shorten(until.requests.size() - 1);
    }
    made_.now.allocated.bytes = peak;
    made_.now.allocated.request = static_cast<std::uint32_t>(until.requests.size());
    return made_;
  }
  [[nodiscard]] const allocator::request_log& log() const { return log_; }
  // A request that failed here.
  void refuse() { log_.refused_events.push_back(event_ += 10); }

 private:
  [[nodiscard]] std::uint64_t event_of(block_number block) const {
    return log_.events[log_.allocations[block]];
  }
  void request(allocator::action what, block_number block, std::uint64_t bytes) {
    allocator::request made;
    made.block = block;
    made.size = bytes;
    made.set_what(what);
    log_.requests.push_back(made);
    log_.events.push_back(event_ += 10);
  }

  trace::dictionary names_;
  replay::replayer replayed_{names_};
  attribution::result attributed_;
  host::host_samples host_;
  verdicts::findings findings_;
  allocator::request_log log_;
  std::vector<blocks::block_facts> blocks_;
  std::vector<std::uint32_t> step_ends_;
  std::map<trace::object_id, blocks::module_facts> modules_;
  blocks::evidence made_{names_, replayed_, attributed_, host_, findings_, log_,
                         {},     {},        {},          {},    {}};
  trace::object_id root_;
  std::map<std::string, trace::text_id> texts_;
  std::uint32_t frames_ = 0;
  std::uint32_t stacks_ = 0;
  std::uint64_t event_ = 0;
};

// The peak of the program that takes this advice.
inline std::uint64_t peak_after(const made_up_run& run, const advice::proposal& what) {
  auto log = run.log();
  what.rewrite(log);
  return peak_of(log);
}

}  // namespace memtrace::tests
