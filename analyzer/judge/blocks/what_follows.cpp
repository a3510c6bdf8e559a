// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/blocks/what_follows.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/judge/blocks/passes.h"
#include "analyzer/judge/blocks/repetition.h"
#include "analyzer/model/allocator/request_edits.h"

namespace memtrace::blocks {

namespace {

using allocator::block_number;
using allocator::request_log;

// What was allocated right before a block was asked for, and at most from there to an event.
struct rise {
  std::uint64_t before = 0;
  std::uint64_t most = 0;
};

// Requested bytes that are allocated, request by request.
class allocated_by_now {
 public:
  void take(const allocator::request& asked) {
    if (asked.what() == allocator::action::allocate) {
      if (asked.block >= sizes_.size()) sizes_.resize(asked.block + std::size_t{1}, 0);
      now_ += sizes_[asked.block] = asked.size;
    } else if (asked.what() == allocator::action::free && asked.block < sizes_.size()) {
      now_ -= std::exchange(sizes_[asked.block], 0);
    }
  }
  [[nodiscard]] std::uint64_t bytes() const { return now_; }

 private:
  std::vector<std::uint64_t> sizes_;
  std::uint64_t now_ = 0;
};

[[nodiscard]] rise rise_after(const request_log& log, block_number block, std::uint64_t end) {
  rise found;
  allocated_by_now now;
  bool is_past = false;
  for (std::size_t i = 0; i < log.requests.size() && log.events[i] <= end; ++i) {
    const auto asked = log.requests[i];
    if (asked.what() == allocator::action::allocate && asked.block == block) {
      found.before = now.bytes();
      is_past = true;
    }
    now.take(asked);
    if (is_past) found.most = std::max(found.most, now.bytes());
  }
  return found;
}

// What failed needs as much more as the one before it did from there on. 0 bytes: nothing tells.
[[nodiscard]] what_follows needed_as_in(const repetition& again, const evidence& of,
                                        block_number refused, const request_log& changed) {
  // All of a backward pass has one stack; and other inputs have other sizes, in proportion.
  auto twin = twin_of(of, refused, again, true);
  const bool is_as_large = twin.has_value();
  if (!twin) twin = twin_of(of, refused, again, false);
  if (!twin) return {};
  const auto then = rise_after(changed, *twin, again.earlier.end);
  const auto share = is_as_large
                         ? 1.0
                         : static_cast<double>(bytes_of(of, refused)) /
                               static_cast<double>(std::max<std::uint64_t>(bytes_of(of, *twin), 1));
  const auto before = rise_after(changed, refused, birth_event(of, refused)).before;
  return {before + static_cast<std::uint64_t>(share * static_cast<double>(then.most - then.before)),
          is_as_large, share > 1};
}

// The last block that autograd keeps of a call, as the how many-th of its module.
struct place_in_model {
  block_number block = never;
  trace::object_id module;
  std::size_t before = 0;  // kept ones of the same module
};

[[nodiscard]] place_in_model last_kept(const evidence& of, const model_call& call,
                                       block_number end) {
  place_in_model last;
  std::map<trace::object_id, std::size_t> counts;
  for (auto block = block_from(of, call.begin); block < end; ++block) {
    const auto facts = of.blocks[block];
    if (facts.call != call.number || !facts.kept_by_autograd || !facts.module) continue;
    last = {block, facts.module, counts[facts.module]++};
  }
  return last;
}

// As a training pass of the same model from the same module on, where the call that failed records a
// graph, too, in another line: in proportion to what was made there.
[[nodiscard]] std::uint64_t needed_as_in_training(const evidence& of, block_number refused,
                                                  const std::vector<model_call>& calls,
                                                  const run_passes& passes,
                                                  const request_log& changed) {
  if (calls.empty()) return 0;
  const auto here = last_kept(of, calls.back(), refused);
  if (here.block == never) return 0;
  for (std::size_t i = calls.size() - 1; i-- > 0;) {
    const auto pass = passes.at(calls[i].begin);
    if (calls[i].root != calls.back().root || !pass) continue;
    const auto end = passes.training[*pass].backward;
    auto before = here.before;
    for (auto block = block_from(of, calls[i].begin);
         block < refused && birth_event(of, block) < end; ++block) {
      const auto facts = of.blocks[block];
      const bool is_alike =
          facts.call == calls[i].number && facts.kept_by_autograd && facts.module == here.module;
      if (!is_alike || before-- != 0) continue;
      const auto then = rise_after(changed, block, end);
      const auto made = bytes_of(of, block);
      const auto more = then.most - std::min(then.most, then.before + made);
      const auto share = static_cast<double>(bytes_of(of, here.block)) /
                         static_cast<double>(std::max<std::uint64_t>(made, 1));
      return rise_after(changed, refused, birth_event(of, refused)).before +
             static_cast<std::uint64_t>(share * static_cast<double>(more));
    }
  }
  return 0;
}

// What is allocated as each of these events comes, which are in order.
[[nodiscard]] std::vector<std::uint64_t> allocated_at(const request_log& log,
                                                      const std::vector<std::uint64_t>& events) {
  std::vector<std::uint64_t> levels;
  allocated_by_now now;
  for (std::size_t i = 0; i < log.requests.size() && levels.size() < events.size(); ++i) {
    while (levels.size() < events.size() && log.events[i] >= events[levels.size()]) {
      levels.push_back(now.bytes());
    }
    now.take(log.requests[i]);
  }
  return levels;
}

// Memory ran out for what a line makes before each training pass: its inputs.
[[nodiscard]] bool leads_to_training(const evidence& of, block_number refused,
                                     const run_passes& passes) {
  const auto refusal = birth_event(of, refused);
  if (passes.unfinished || passes.training.empty() || passes.training.back().end >= refusal)
    return false;
  const auto stack = of.blocks[refused].stack;
  for (block_number block = 0; block < refused; ++block) {
    const bool is_alike = passes.of_block[block] == activity::training &&
                          of.blocks[block].stack == stack && of.blocks[block].call == 0;
    if (is_alike) return true;
  }
  return false;
}

// Where the training passes begin, the one that memory ran out before, too; or else the calls of the line
// in which the last one begins.
[[nodiscard]] std::vector<std::uint64_t> begins_of_passes(const refused_run& run) {
  const auto& [of, refused, passes, calls] = run;
  std::vector<std::uint64_t> begins;
  for (const auto& pass : passes.training) begins.push_back(pass.forward);
  if (!begins.empty()) {
    if (passes.unfinished) begins.push_back(*passes.unfinished);
    if (leads_to_training(of, refused, passes)) begins.push_back(birth_event(of, refused));
    return begins;
  }
  for (const auto& call : calls) {
    if (call.root == calls.back().root && call.stack == calls.back().stack)
      begins.push_back(call.begin);
  }
  return begins;
}

// But for the rise.
[[nodiscard]] what_follows needed_by_pass(const refused_run& run, const request_log& changed,
                                          std::uint64_t allocated) {
  const auto& [of, refused, passes, calls] = run;
  for (const auto& again : {pass_again(passes, birth_event(of, refused)), call_again(calls)}) {
    if (!again) continue;
    const auto found = needed_as_in(*again, of, refused, changed);
    if (found.bytes != 0)
      return {std::max(allocated, found.bytes), found.is_known, found.is_larger};
  }
  if (passes.training.size() > 1) {
    return {std::max(allocated, needed_as_in_training(of, refused, calls, passes, changed)), false};
  }
  return {needed_in_first_pass(run, changed, allocated), false};
}

// Of blocks that were there when the pass or the call before came to the place where this one failed:
// those that are there now in their place, made by the same line in the same size.
class counterparts {
 public:
  counterparts(const evidence& of, block_number refused, const repetition& again)
      : of_(of), refused_(refused), again_(again) {
    for (block_number block = 0; block < refused; ++block) alike_[kind_of(block)].push_back(block);
  }

  [[nodiscard]] std::optional<block_number> of(block_number block) const {
    const auto found = alike_.find(kind_of(block));
    if (found == alike_.end()) return std::nullopt;
    const auto& all = found->second;
    const auto index = [&](std::uint64_t event) {
      return std::ranges::lower_bound(all, block_from(of_, event)) - all.begin();
    };
    const auto here = std::ranges::lower_bound(all, block) - all.begin();
    const auto there = here + index(again_.failed) - index(again_.earlier.begin);
    if (there <= here || there >= std::ssize(all)) return std::nullopt;
    const auto other = all[static_cast<std::size_t>(there)];
    const bool is_alive = death_event(of_, other) >= birth_event(of_, refused_);
    return is_alive ? std::optional(other) : std::nullopt;
  }

 private:
  using kind = std::pair<trace::stack_id, std::uint64_t>;
  [[nodiscard]] kind kind_of(block_number block) const {
    return {of_.blocks[block].stack, bytes_of(of_, block)};
  }

  const evidence& of_;
  block_number refused_;
  const repetition& again_;
  std::map<kind, std::vector<block_number>> alike_;
};

}  // namespace

refused_run run_until(const evidence& of, block_number refused) {
  return {of, refused, passes_of(of), calls_until(of, refused)};
}

what_follows needed_after(const refused_run& run, const request_log& changed,
                          std::uint64_t allocated) {
  auto found = needed_by_pass(run, changed, allocated);
  found.rise = rise_of(allocated_at(changed, begins_of_passes(run)));
  return found;
}

std::optional<request_log> continued_as_before(const refused_run& run, const request_log& changed) {
  const auto& [of, refused, passes, calls] = run;
  const auto refusal = birth_event(of, refused);
  auto again = pass_again(passes, refusal);
  auto twin = again ? twin_of(of, refused, *again, true) : std::nullopt;
  if (!twin) {
    again = call_again(calls);
    if (again) twin = twin_of(of, refused, *again, true);
  }
  if (!twin) return std::nullopt;
  const counterparts counterpart(of, refused, *again);
  allocator::request_edits edits;
  std::map<block_number, allocator::request_edits::added> made;
  auto event = refusal;
  for (std::size_t i = 0; i < changed.requests.size(); ++i) {
    const auto asked = changed.requests[i];
    if (changed.events[i] <= birth_event(of, *twin)) continue;
    if (changed.events[i] >= again->earlier.end || asked.block >= of.blocks.size()) continue;
    ++event;
    if (asked.what() == allocator::action::allocate) {
      made.emplace(asked.block, edits.allocate(event, asked.block));
    } else if (asked.what() == allocator::action::free) {
      const auto own = made.find(asked.block);
      if (own != made.end()) {
        edits.free(own->second, event);
      } else if (const auto block = counterpart.of(asked.block)) {
        edits.free_at(*block, event);
      }
    }
  }
  auto longer = changed;
  edits.apply(longer);
  longer.answers.reset();
  return longer;
}

bool has_had_as_much(const refused_run& run) {
  allocated_by_now now;
  std::uint64_t most = 0;
  for (const auto& asked : run.of.log.requests) {
    if (asked.block == run.refused) break;
    now.take(asked);
    most = std::max(most, now.bytes());
  }
  return now.bytes() + bytes_of(run.of, run.refused) <= most;
}

}  // namespace memtrace::blocks
