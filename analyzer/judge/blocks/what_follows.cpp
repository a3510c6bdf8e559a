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

// What a training pass that ran out of memory still needs at least.
//
//   forward   the modules that follow add as much as those of their class that have run in it;
//             modules are told in the order in which the model has them
//   backward  the gradient of what an operation kept is as large as that, and what was kept after
//             it is gone by then
class rest_of_pass {
 public:
  // `sizes`: bytes by block, as the changed program asks for them; `left`: the same of those that it has
  // not given back by then.
  rest_of_pass(const evidence& of, std::uint64_t refusal, const std::vector<std::uint64_t>& sizes,
               const std::vector<std::uint64_t>& left)
      : of_(of), sizes_(sizes), left_(left) {
    for (block_number block = 0; block < of.blocks.size(); ++block) {
      const auto& facts = of.blocks[block];
      if (facts.born_in != attribution::phase::forward) continue;
      if (facts.call != 0 && facts.call != call_) begin(facts);
      if (call_ != 0 && death_event(of, block) >= refusal) add(block, facts);
    }
  }

  [[nodiscard]] std::uint64_t from_forward() const {
    std::map<trace::text_id, std::uint64_t> ran;
    std::map<trace::text_id, std::uint64_t> follow;
    for (const auto& [object, module] : of_.modules) {
      if (module.root == root_) ++(object <= last_ ? ran : follow)[module.type];
    }
    std::uint64_t sum = 0;
    for (const auto& [type, left] : by_class_) {
      const auto known = ran.find(type);
      if (known != ran.end()) sum += left / known->second * follow[type];
    }
    return std::max(sum, from_backward());
  }
  [[nodiscard]] std::uint64_t from_backward() const { return gradient_; }

 private:
  void begin(const block_facts& first) {
    call_ = first.call;
    root_ = first.root;
    by_class_.clear();
    last_ = {};
    gradient_ = 0;
  }

  void add(block_number block, const block_facts& facts) {
    const auto bytes = sizes_[block];
    // Of all that was kept: its own gradient, less what has been kept after it.
    if (facts.kept_by_autograd) gradient_ = std::max(bytes, gradient_ - std::min(gradient_, bytes));
    const auto module = of_.modules.find(facts.module);
    if (facts.call == 0 || module == of_.modules.end()) return;
    last_ = std::max(last_, facts.module);
    by_class_[module->second.type] += left_[block];
  }

  const evidence& of_;
  const std::vector<std::uint64_t>& sizes_;
  const std::vector<std::uint64_t>& left_;
  std::uint32_t call_ = 0;
  trace::object_id root_;
  trace::object_id last_;
  std::uint64_t gradient_ = 0;
  std::map<trace::text_id, std::uint64_t> by_class_;  // bytes alive at the refusal
};

// What is alive when an optimizer's first update runs out of memory, and what that still needs.
struct first_update {
  std::uint64_t parameters = 0;  // bytes that got a gradient
  std::uint64_t states = 0;      // as the program made them
  std::uint64_t changed = 0;     // the same as the changed program makes them
  std::uint64_t alive = 0;       // likewise, of everything
  std::uint64_t each = 0;        // states of a parameter, each as large as it is; 0: not known

  [[nodiscard]] std::uint64_t left() const {
    const auto all = each * parameters;
    if (states == 0 || all <= states) return 0;
    return static_cast<std::uint64_t>(static_cast<double>(all - states) *
                                      static_cast<double>(changed) / static_cast<double>(states));
  }
};

// Blocks of one size in a row at the beginning.
struct first_run {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  bool is_over = false;
  void add(std::uint64_t size) {
    if (bytes == 0) bytes = size;
    is_over = is_over || size != bytes;
    if (!is_over) ++blocks;
  }
};

// Parameters are updated in their order, each with as many states of its size as the first one:
// Adam's first parameters of 4, 4 and 1 MiB have states of 4, 4, 4, 4, 1 and 1.
[[nodiscard]] std::optional<first_update> first_update_of(const evidence& of, block_number refused,
                                                          const std::vector<std::uint64_t>& sizes) {
  const bool updates =
      refused != 0 && of.blocks[refused - 1].born_in == attribution::phase::optimizer;
  if (!updates || !of.step_ends.empty()) return std::nullopt;
  using attribution::category;
  constexpr std::uint64_t smallest = 512;  // the allocator's: step counters
  first_update found;
  first_run weights;
  first_run states;
  std::uint64_t trained = 0;
  const auto refusal = birth_event(of, refused);
  for (block_number block = 0; block < refused; ++block) {
    const auto& facts = of.blocks[block];
    if (death_event(of, block) < refusal) continue;
    const auto bytes = bytes_of(of, block);
    found.alive += sizes[block];
    if (facts.what == category::gradients) found.parameters += bytes;
    if (facts.what == category::weights) {
      trained += bytes;
      weights.add(bytes);
    }
    if (facts.what != category::optimizer_states || bytes <= smallest) continue;
    found.states += bytes;
    found.changed += sizes[block];
    states.add(bytes);
  }
  // Buckets beside the gradients are no parameters.
  found.parameters = std::min(found.parameters, trained);
  const bool fits = weights.bytes == states.bytes && weights.blocks != 0 && states.is_over &&
                    states.blocks % weights.blocks == 0;
  if (fits) found.each = states.blocks / weights.blocks;
  return found;
}

// What is there at least when a first backward pass is over: what stays from step to step, and a gradient
// of each weight of the models that ran, as large as that.
[[nodiscard]] std::uint64_t left_by_backward(const evidence& of, block_number refused,
                                             const std::vector<std::uint64_t>& sizes) {
  using attribution::category;
  std::set<trace::object_id> trained;
  for (block_number block = 0; block < refused; ++block) {
    const auto facts = of.blocks[block];
    const bool is_kept = facts.call != 0 && facts.kept_by_autograd;
    if (is_kept && facts.born_in == attribution::phase::forward) trained.insert(facts.root);
  }
  std::uint64_t stays = 0;
  std::uint64_t weights = 0;
  std::uint64_t gradients = 0;       // that are there, as the program made them
  std::uint64_t gradients_then = 0;  // as the changed program does
  std::uint64_t weights_then = 0;
  for (block_number block = 0; block < refused; ++block) {
    const auto facts = of.blocks[block];
    if (facts.what == category::gradients) {
      gradients += bytes_of(of, block);
      gradients_then += sizes[block];
    }
    if (death_event(of, block) < birth_event(of, refused)) continue;
    const bool is_weight = facts.what == category::weights;
    if (is_weight || facts.what == category::buffers) stays += sizes[block];
    if (!is_weight || !facts.name || !trained.contains(facts.root)) continue;
    weights += bytes_of(of, block);
    weights_then += sizes[block];
  }
  if (of.attributed.trainable_bytes != of.attributed.parameter_bytes) return stays;
  if (gradients == 0) return stays + weights_then;
  return stays + static_cast<std::uint64_t>(static_cast<double>(weights) *
                                            static_cast<double>(gradients_then) /
                                            static_cast<double>(gradients));
}

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
  const auto stack = fatal_oom(of)->stack;
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
  std::vector<std::uint64_t> sizes(of.blocks.size(), 0);
  auto left = sizes;
  for (const auto& asked : changed.requests) {
    if (asked.block >= sizes.size()) continue;
    if (asked.what() == allocator::action::allocate) {
      sizes[asked.block] = left[asked.block] = asked.size;
    } else if (asked.what() == allocator::action::free) {
      left[asked.block] = 0;
    }
  }
  // The activations that were there at the peak are gone by then.
  if (const auto update = first_update_of(of, refused, sizes)) {
    return {std::max(allocated, update->alive + update->left()), false};
  }
  const rest_of_pass rest(of, birth_event(of, refused), sizes, left);
  const auto then = left_by_backward(of, refused, sizes);
  if (passes.training.empty()) {
    if (!passes.unfinished) return {allocated, false};
    return {std::max(allocated + rest.from_forward(), then), false};
  }
  const bool in_backward = passes.training.front().end == end_event(of);
  // The optimizer's first update follows, of which nothing is known yet.
  if (!in_backward) return {allocated, false};
  return {std::max(allocated + rest.from_backward(), then), false};
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
