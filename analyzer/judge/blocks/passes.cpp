// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/blocks/passes.h"

#include <algorithm>
#include <set>

namespace memtrace::blocks {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

enum class place : std::uint8_t { between, forward, backward, evaluation, update };

// Events at which backward passes begin.
[[nodiscard]] std::vector<std::uint64_t> begins_of_backward(const evidence& of) {
  std::vector<std::uint64_t> begins;
  bool in_backward = false;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto during = of.blocks[block].born_in;
    if (during == phase::backward && !in_backward) begins.push_back(birth_event(of, block));
    if (during == phase::backward || during == phase::forward) {
      in_backward = during == phase::backward;
    }
  }
  return begins;
}

// Memory ran out while the block was alive: what was freed then, or later, says nothing.
[[nodiscard]] bool met_a_refusal(const evidence& of, std::uint64_t birth, std::uint64_t death) {
  const auto& refused = of.log.refused_events;
  const auto next = std::upper_bound(refused.begin(), refused.end(), birth);
  return next != refused.end() && *next <= death;
}

struct model_call {
  trace::object_id root;
  std::uint32_t call = 0;
  std::uint64_t begin = 0;  // event of its first block that autograd kept
};

// Where each backward pass so far was of one call of a model, and the model has been called again
// since the last one, none is meant to follow the calls before that one.
[[nodiscard]] std::set<std::uint32_t> calls_left_behind(const evidence& of,
                                                        const std::vector<std::uint64_t>& begins) {
  std::map<trace::object_id, std::vector<model_call>> by_root;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.call == 0 || facts.born_in != phase::forward || facts.recomputed) continue;
    if (!facts.kept_by_autograd || facts.what != category::activations) continue;
    auto& calls = by_root[facts.root];
    if (calls.empty() || calls.back().call != facts.call)
      calls.push_back({facts.root, facts.call, birth_event(of, block)});
  }
  std::set<std::uint32_t> found;
  for (const auto& [root, calls] : by_root) {
    std::map<std::uint64_t, std::size_t> calls_by_backward;
    std::vector<std::uint32_t> open;
    for (const auto& one : calls) {
      const auto next = std::upper_bound(begins.begin(), begins.end(), one.begin);
      if (next == begins.end()) {
        open.push_back(one.call);
      } else {
        ++calls_by_backward[*next];
      }
    }
    const bool is_one_each =
        std::ranges::all_of(calls_by_backward, [](const auto& one) { return one.second == 1; });
    if (calls_by_backward.empty() || !is_one_each || open.size() < 2) continue;
    found.insert(open.begin(), open.end() - 1);
  }
  return found;
}

// What became of the graph of one call.
struct graph_fate {
  std::uint64_t birth = 0;
  trace::object_id root;
  trace::stack_id stack;  // of its first block
  std::uint64_t last_death = 0;
  bool was_used = false;
  bool was_passed_over = false;
};

class graphs_of_calls {
 public:
  explicit graphs_of_calls(const evidence& of) : of_(of) {
    for (const auto& facts : of.blocks) {
      if (facts.born_in == phase::backward && facts.forward) with_gradients_.insert(facts.forward);
    }
    for (block_number block = 0; block < of.blocks.size(); ++block) look_at(block);
    if (in_backward_) passes_.back().second = end_event(of);
    std::ranges::sort(deaths_);
    next_ = graphs_.begin();
    for (const auto& [begin, end] : passes_) settle(begin, end);
  }

  // A backward pass makes gradients for the lines that it passes, and frees what it has used. A graph
  // that was there through one which freed another, that none freed and for none of whose lines there are
  // gradients, was not used; nor is what the same line made last, whose end is not seen.
  [[nodiscard]] std::set<std::uint32_t> passed_over() const {
    std::map<trace::stack_id, bool> unused;  // by line; false: one of its graphs was used
    for (const auto& [call, graph] : graphs_) {
      const bool came_last = passes_.empty() || graph.birth >= passes_.back().first;
      if (came_last || graph.last_death == end_event(of_)) continue;
      auto& all = unused.try_emplace(graph.stack, true).first->second;
      all = all && graph.was_passed_over && !graph.was_used;
    }
    std::set<std::uint32_t> found;
    if (with_gradients_.empty()) return found;  // they do not tell of which lines they are
    for (const auto& [call, graph] : graphs_) {
      const auto line = unused.find(graph.stack);
      if (line == unused.end() || !line->second || graph.was_used) continue;
      found.insert(call);
    }
    return found;
  }

  // The call in which memory ran out after training passes of the same model, of which none begins in
  // the line of that call: a validation, most likely.
  [[nodiscard]] std::optional<std::uint32_t> failed_elsewhere() const {
    constexpr std::size_t fewest = 2;
    const bool may_be = fatal_oom(of_) != nullptr && passes_.size() >= fewest && !in_backward_;
    if (!may_be || graphs_.empty()) return std::nullopt;
    const auto& [last, graph] = *graphs_.rbegin();
    if (graph.birth < passes_.back().second || graph.last_death != end_event(of_))
      return std::nullopt;
    std::size_t trained = 0;
    for (const auto& [call, other] : graphs_) {
      if (!other.was_used || other.root != graph.root) continue;
      if (other.stack == graph.stack) return std::nullopt;
      ++trained;
    }
    return trained < fewest ? std::nullopt : std::optional(last);
  }

 private:
  void look_at(block_number block) {
    const auto facts = of_.blocks[block];
    const auto birth = birth_event(of_, block);
    const bool is_backward = facts.born_in == phase::backward;
    if (is_backward && !in_backward_) passes_.emplace_back(birth, birth);
    if (!is_backward && in_backward_) passes_.back().second = birth;
    in_backward_ = is_backward;
    if (facts.call == 0 || facts.born_in != phase::forward || facts.recomputed) return;
    if (!facts.kept_by_autograd || facts.what != category::activations) return;
    auto& graph = graphs_[facts.call];
    if (graph.birth == 0) {
      graph.birth = birth;
      graph.root = facts.root;
      graph.stack = facts.stack;
    }
    const auto death = death_event(of_, block);
    graph.last_death = std::max(graph.last_death, death);
    if (facts.freed_in_backward) deaths_.emplace_back(death, facts.call);
    if (with_gradients_.contains(facts.stack)) graph.was_used = true;
  }

  void settle(std::uint64_t begin, std::uint64_t end) {
    const auto from = std::ranges::lower_bound(deaths_, std::pair(begin, std::uint32_t{0}));
    const auto to = std::ranges::lower_bound(deaths_, std::pair(end, std::uint32_t{0}));
    for (auto at = from; at != to; ++at) graphs_[at->second].was_used = true;
    if (from == to) return;  // it kept what it used: retain_graph
    // Calls are numbered in the order of their births.
    for (; next_ != graphs_.end() && next_->second.birth < begin; ++next_) {
      // What went before the pass was over, and not in it, went before it began or when it had ended.
      next_->second.was_passed_over = next_->second.last_death >= begin;
    }
  }

  const evidence& of_;
  std::map<std::uint32_t, graph_fate> graphs_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> passes_;  // of backward: begin, end
  std::vector<std::pair<std::uint64_t, std::uint32_t>> deaths_;  // of a call's blocks
  std::set<trace::stack_id> with_gradients_;
  bool in_backward_ = false;
  std::map<std::uint32_t, graph_fate>::iterator next_;  // after those that a pass has met
};

// A block that lives to the end may have been waiting for a backward pass, and so may one that was
// alive when memory ran out.
[[nodiscard]] std::map<std::uint32_t, std::uint64_t> calls_without_backward(
    const evidence& of, const graphs_of_calls& graphs, std::optional<std::uint32_t> failed) {
  const auto begins = begins_of_backward(of);
  auto left_behind = calls_left_behind(of, begins);
  left_behind.merge(graphs.passed_over());
  if (failed) left_behind.insert(*failed);
  std::map<std::uint32_t, std::uint64_t> kept;  // 0: a backward pass used it
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.call == 0 || facts.born_in != phase::forward || facts.recomputed) continue;
    if (!facts.kept_by_autograd || facts.what != category::activations) continue;
    const auto birth = birth_event(of, block);
    const auto death = death_event(of, block);
    const auto next = std::upper_bound(begins.begin(), begins.end(), birth);
    const bool may_be_used = met_a_refusal(of, birth, death) ||
                             (next == begins.end() ? death == end_event(of) : death > *next);
    const bool used = may_be_used && !left_behind.contains(facts.call);
    const auto [call, fresh] = kept.try_emplace(facts.call, 0);
    if (fresh || call->second != 0) call->second = used ? 0 : call->second + bytes_of(of, block);
  }
  std::erase_if(kept, [](const auto& call) { return call.second == 0; });
  return kept;
}

[[nodiscard]] place place_of(const block_facts& block) {
  if (block.recomputed || block.born_in == phase::backward) return place::backward;
  if (block.born_in == phase::evaluation) return place::evaluation;
  if (block.born_in == phase::forward) {
    return block.evaluation ? place::evaluation : place::forward;
  }
  if (block.born_in == phase::optimizer || block.born_in == phase::zero_grad) return place::update;
  return place::between;
}

// No forward pass leaves anything to a backward pass: of models whose parameters need no gradients.
[[nodiscard]] bool records_nothing(const evidence& of) {
  if (of.attributed.autograd != "on" || of.attributed.has_backward) return false;
  return std::ranges::none_of(of.blocks,
                              [](const block_facts& facts) { return facts.kept_by_autograd; });
}

class reading {
 public:
  explicit reading(const evidence& of) : of_(of), records_nothing_(records_nothing(of)) {}

  [[nodiscard]] run_passes run() {
    found_.of_block.resize(of_.blocks.size(), activity::neither);
    const graphs_of_calls graphs(of_);
    found_.failed_elsewhere = graphs.failed_elsewhere();
    found_.without_backward = calls_without_backward(of_, graphs, found_.failed_elsewhere);
    for (block_number block = 0; block < of_.blocks.size(); ++block) look_at(block);
    settle(activity::neither);
    find_ends_of_unused_graphs();
    if (in_backward_) {
      found_.training.back().end = end_event(of_);
    } else if (forward_ != 0) {
      found_.unfinished = forward_ - 1;
    }
    return std::move(found_);
  }

 private:
  void find_ends_of_unused_graphs() {
    if (found_.without_backward.empty()) return;
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      const auto facts = of_.blocks[block];
      if (!facts.kept_by_autograd || !found_.without_backward.contains(facts.call)) continue;
      found_.born_after_unused_graphs.insert(block_from(of_, death_event(of_, block)));
    }
  }

  // Blocks that follow a call in a forward pass (the loss) belong to that call.
  [[nodiscard]] place place_in_course(const block_facts& block) {
    const auto where = place_of(block);
    if (where != place::forward) return where;
    if (records_nothing_) return place::evaluation;
    if (block.call != 0) evaluates_ = found_.without_backward.contains(block.call);
    return evaluates_ ? place::evaluation : where;
  }

  void look_at(block_number block) {
    const auto event = birth_event(of_, block);
    const auto where = place_in_course(of_.blocks[block]);
    if (where == place::between) {
      waiting_.push_back(block);
      return;
    }
    if (in_backward_ && where != place::backward) {
      found_.training.back().end = event;
      in_backward_ = false;
      forward_ = 0;
    }
    if (where == place::update) return;
    const auto now = where == place::evaluation ? activity::evaluation : activity::training;
    if (where == place::evaluation) found_.evaluates = true;
    settle(now, event);
    found_.of_block[block] = now;
    if (where == place::forward && forward_ == 0) forward_ = event + 1;
    if (where == place::backward && !in_backward_) {
      in_backward_ = true;
      const auto begin = forward_ == 0 ? event : forward_ - 1;
      found_.training.push_back({begin, event, end_event(of_)});
    }
  }

  // Those between two calls, once it is known which came next.
  void settle(activity next, std::uint64_t event = 0) {
    for (const auto block : waiting_) {
      const bool sees_next = next != activity::neither && death_event(of_, block) > event;
      found_.of_block[block] = sees_next ? next : before_;
    }
    waiting_.clear();
    if (next != activity::neither) before_ = next;
  }

  const evidence& of_;
  bool records_nothing_;
  run_passes found_;
  std::vector<block_number> waiting_;
  activity before_ = activity::neither;
  bool in_backward_ = false;
  bool evaluates_ = false;     // the call that ran last in a forward pass
  std::uint64_t forward_ = 0;  // event + 1 of the first block of the forward that runs; 0: none
};

}  // namespace

std::optional<std::size_t> run_passes::at(std::uint64_t event) const {
  const auto after = std::upper_bound(
      training.begin(), training.end(), event,
      [](std::uint64_t one, const training_pass& pass) { return one < pass.forward; });
  if (after == training.begin()) return std::nullopt;
  return static_cast<std::size_t>(after - training.begin() - 1);
}

run_passes passes_of(const evidence& of) {
  return reading(of).run();
}

std::uint32_t micro_batches(const evidence& of, const run_passes& passes) {
  // Steps that the program marks, or that are inferred, may be epochs.
  const auto device = of.attributed.devices.find(of.log.device);
  if (device == of.attributed.devices.end() ||
      device->second.steps.boundary != attribution::step_boundary::optimizer) {
    return 1;
  }
  std::map<std::uint32_t, std::size_t> steps;  // by their micro-batches
  auto pass = passes.training.begin();
  for (const auto end : of.step_ends) {
    std::set<trace::stack_id> lines;
    std::uint32_t count = 0;
    const auto end_of_step = end < of.log.events.size() ? of.log.events[end] : end_event(of);
    for (; pass != passes.training.end() && pass->backward < end_of_step; ++pass, ++count) {
      lines.insert(of.blocks[block_from(of, pass->forward)].stack);
    }
    // Of several lines each has a loss of its own, as those of a GAN's discriminator.
    ++steps[lines.size() == 1 ? count : 1];
  }
  const auto most = std::ranges::find_if(
      steps, [&](const auto& one) { return one.second * 2 > of.step_ends.size(); });
  return most == steps.end() ? 1 : most->first;
}

std::uint64_t end_event(const evidence& of) {
  return of.log.events.empty() ? 1 : of.log.events.back() + 1;
}

std::uint64_t birth_event(const evidence& of, block_number block) {
  const auto request = of.log.allocations[block];
  return request < of.log.events.size() ? of.log.events[request] : end_event(of);
}

std::uint64_t death_event(const evidence& of, block_number block) {
  const auto request = of.blocks[block].free_request;
  return request < of.log.events.size() ? of.log.events[request] : end_event(of);
}

block_number block_from(const evidence& of, std::uint64_t event) {
  block_number first = 0;
  auto last = static_cast<block_number>(of.blocks.size());
  while (first < last) {
    const auto middle = first + (last - first) / 2;
    if (birth_event(of, middle) < event) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

std::uint64_t bytes_of(const evidence& of, block_number block) {
  const auto request = of.log.allocations[block];
  return request < of.log.requests.size() ? of.log.requests[request].size : 0;
}

std::vector<block_number> alive_after(const evidence& of, std::uint32_t request) {
  std::vector<block_number> alive;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (of.log.allocations[block] <= request && of.blocks[block].free_request > request) {
      alive.push_back(block);
    }
  }
  return alive;
}

const replay::out_of_memory* fatal_oom(const evidence& of) {
  const auto& ooms = of.replayed.ooms();
  const auto last = std::find_if(ooms.rbegin(), ooms.rend(),
                                 [&](const auto& oom) { return oom.device == of.log.device; });
  return last == ooms.rend() || last->caught ? nullptr : &*last;
}

std::optional<allocator::block_number> fatal_refusal(const evidence& of) {
  const auto* const oom = fatal_oom(of);
  if (oom == nullptr) return std::nullopt;
  const auto& log = of.log;
  for (std::size_t block = log.blocks(); block-- != 0;) {
    const auto request = log.allocations[block];
    if (block < log.addresses.size() && log.addresses[block] == 0 && request < log.events.size() &&
        log.events[request] == oom->event) {
      return static_cast<allocator::block_number>(block);
    }
  }
  return std::nullopt;
}

}  // namespace memtrace::blocks
