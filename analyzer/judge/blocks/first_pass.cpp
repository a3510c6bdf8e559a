// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "analyzer/judge/blocks/what_follows.h"
#include "analyzer/model/estimate/optimizers.h"

namespace memtrace::blocks {

using allocator::block_number;
using allocator::request_log;

namespace {

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
    for (block_number block = 0; block < of.blocks.size() && birth_event(of, block) < refusal;
         ++block) {
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

// States that optimizers will make of the weights that they have, after a first backward pass: they stay
// for all passes that follow.
[[nodiscard]] std::uint64_t states_to_come(const evidence& of, block_number refused,
                                           const std::vector<std::uint64_t>& sizes) {
  if (of.attributed.trainable_bytes != of.attributed.parameter_bytes) return 0;
  double states = 0;
  for (block_number block = 0; block < refused; ++block) {
    const auto facts = of.blocks[block];
    if (facts.is_state) return 0;  // of a checkpoint
    if (facts.trainer == 0 || facts.what != attribution::category::weights) continue;
    if (facts.element_bits == 0) continue;
    const double element = facts.element_bits / 8.0;
    const auto parameters = static_cast<double>(bytes_of(of, block)) / element;
    // A change to a narrower type narrows its states, too.
    const auto narrowed =
        static_cast<double>(sizes[block]) / static_cast<double>(bytes_of(of, block));
    const auto& optimizer = estimate::optimizers()[facts.trainer - 1];
    states += estimate::state_bytes(optimizer, parameters, element * narrowed, 0);
  }
  return static_cast<std::uint64_t>(states);
}

// Of models that an optimizer trains and that have not run yet, as a student that comes after its teacher: a
// gradient of each weight, and as much for their backward pass as those that ran keep for each byte of
// their weights.
[[nodiscard]] std::uint64_t of_models_to_come(const evidence& of, block_number refused) {
  std::set<trace::object_id> ran;
  std::uint64_t kept = 0;
  for (block_number block = 0; block < refused; ++block) {
    const auto facts = of.blocks[block];
    if (!facts.root || facts.call == 0) continue;
    if (facts.born_in != attribution::phase::forward) continue;
    ran.insert(facts.root);
    const bool is_there = death_event(of, block) >= birth_event(of, refused);
    if (is_there && facts.kept_by_autograd) kept += bytes_of(of, block);
  }
  std::uint64_t weights = 0;
  std::uint64_t to_come = 0;
  for (block_number block = 0; block < refused; ++block) {
    const auto facts = of.blocks[block];
    if (!ran.contains(facts.root)) {
      if (facts.in_optimizer) to_come += bytes_of(of, block);
    } else if (facts.what == attribution::category::weights) {
      weights += bytes_of(of, block);
    }
  }
  if (weights == 0) return to_come;
  const auto share = static_cast<double>(to_come) / static_cast<double>(weights);
  return to_come + static_cast<std::uint64_t>(static_cast<double>(kept) * share);
}

}  // namespace

std::uint64_t needed_in_first_pass(const refused_run& run, const request_log& changed,
                                   std::uint64_t allocated) {
  const auto& [of, refused, passes, calls] = run;
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
    return std::max(allocated, update->alive + update->left());
  }
  const rest_of_pass rest(of, birth_event(of, refused), sizes, left);
  const auto then = left_by_backward(of, refused, sizes);
  const auto states = states_to_come(of, refused, sizes);
  if (passes.training.empty()) {
    if (!passes.unfinished) return allocated;
    const auto others = of_models_to_come(of, refused);
    return std::max(allocated + rest.from_forward() + others, then) + states;
  }
  const bool in_backward = passes.training.front().end == end_event(of);
  // The optimizer's first update follows.
  if (!in_backward) return allocated + states;
  return std::max(allocated + rest.from_backward(), then) + states;
}

}  // namespace memtrace::blocks
