// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/prove.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/judge/blocks/passes.h"
#include "analyzer/model/allocator/side_by_side.h"

namespace memtrace::advice {

namespace {

using allocator::block_number;
using allocator::request_log;

// Parts of the peak below which a saving is not told, and the least of all that is: a segment.
constexpr std::uint64_t least_part = 100;
constexpr std::uint64_t least_bytes = 2 * allocator::mebibyte;
// Capacities are told apart to this much.
constexpr std::uint64_t capacity_parts = 64;

[[nodiscard]] std::int64_t less(std::uint64_t before, std::uint64_t after) {
  return static_cast<std::int64_t>(before - after);
}

// All up to that request, which the program would then have.
[[nodiscard]] request_log up_to(const request_log& log, allocator::block_number refused) {
  auto cut = log;
  const auto count = log.allocations[refused] + std::size_t{1};
  cut.requests.shorten(count);
  cut.events.shorten(std::min(count, cut.events.size()));
  cut.addresses[refused] = 1;
  cut.answers.reset();
  return cut;
}

// What a training pass that ran out of memory still needs at least.
//
//   forward   the modules that follow add as much as those of their class that have run in it;
//             modules are told in the order in which the model has them
//   backward  the gradient of what an operation kept is as large as that, and what was kept after
//             it is gone by then
class rest_of_pass {
 public:
  // `sizes`: bytes by block, as the changed program asks for them.
  rest_of_pass(const blocks::evidence& of, std::uint64_t refusal,
               const std::vector<std::uint64_t>& sizes)
      : of_(of), sizes_(sizes) {
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
  void begin(const blocks::block_facts& first) {
    call_ = first.call;
    root_ = first.root;
    by_class_.clear();
    last_ = {};
    gradient_ = 0;
  }

  void add(block_number block, const blocks::block_facts& facts) {
    const auto bytes = sizes_[block];
    // Of all that was kept: its own gradient, less what has been kept after it.
    if (facts.kept_by_autograd) gradient_ = std::max(bytes, gradient_ - std::min(gradient_, bytes));
    const auto module = of_.modules.find(facts.module);
    if (facts.call == 0 || module == of_.modules.end()) return;
    last_ = std::max(last_, facts.module);
    by_class_[module->second.type] += bytes;
  }

  const blocks::evidence& of_;
  const std::vector<std::uint64_t>& sizes_;
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
[[nodiscard]] std::optional<first_update> first_update_of(const blocks::evidence& of,
                                                          block_number refused,
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

// From the first of its blocks to the first after it.
struct stretch_of_run {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The block of an earlier stretch that the refused one would have been in the one that failed: made by the
// same call stack, after as many others of it. Empty: there is none.
[[nodiscard]] std::optional<block_number> twin_of(const blocks::evidence& of, block_number refused,
                                                  std::uint64_t failed,
                                                  const stretch_of_run& earlier) {
  const auto stack = fatal_oom(of)->stack;
  std::size_t before = 0;
  for (auto block = block_from(of, failed); block < refused; ++block) {
    if (of.blocks[block].stack == stack) ++before;
  }
  for (auto block = block_from(of, earlier.begin);
       block < of.blocks.size() && birth_event(of, block) < earlier.end; ++block) {
    if (of.blocks[block].stack == stack && before-- == 0) return block;
  }
  return std::nullopt;
}

// What was allocated right before a block was asked for, and at most from there to an event.
struct rise {
  std::uint64_t before = 0;
  std::uint64_t most = 0;
};

[[nodiscard]] rise rise_after(const request_log& log, block_number block, std::uint64_t end) {
  rise found;
  std::uint64_t now = 0;
  std::map<block_number, std::uint64_t> sizes;
  bool is_past = false;
  for (std::size_t i = 0; i < log.requests.size() && log.events[i] <= end; ++i) {
    const auto asked = log.requests[i];
    if (asked.what() == allocator::action::allocate) {
      if (asked.block == block) {
        found.before = found.most = now;
        is_past = true;
      }
      sizes[asked.block] = asked.size;
      now += asked.size;
    } else if (asked.what() == allocator::action::free) {
      now -= std::min(now, sizes[asked.block]);
      sizes.erase(asked.block);
    }
    if (is_past) found.most = std::max(found.most, now);
  }
  return found;
}

// What failed, begun at an event, needs as much more as one before it did from there on.
[[nodiscard]] std::uint64_t needed_as_in(const stretch_of_run& earlier, const blocks::evidence& of,
                                         block_number refused, std::uint64_t failed,
                                         const request_log& changed) {
  const auto twin = twin_of(of, refused, failed, earlier);
  if (!twin) return 0;
  const auto then = rise_after(changed, *twin, earlier.end);
  return rise_after(changed, refused, birth_event(of, refused)).before + (then.most - then.before);
}

// As a training pass before it did, or its optimizer's step.
[[nodiscard]] std::uint64_t needed_as_in_pass(const blocks::evidence& of, block_number refused,
                                              const blocks::run_passes& passes,
                                              const request_log& changed) {
  const auto event = birth_event(of, refused);
  const auto count = passes.training.size();
  const bool in_forward = passes.unfinished && *passes.unfinished <= event;
  if (count < (in_forward ? 1 : 2)) return 0;
  const auto failed = in_forward ? *passes.unfinished : passes.training.back().forward;
  const auto& earlier = passes.training[count - (in_forward ? 1 : 2)];
  const bool in_update = !in_forward && passes.training.back().end < event;
  const auto end = in_update ? passes.training.back().forward : earlier.end;
  return needed_as_in({earlier.forward, end}, of, refused, failed, changed);
}

// As the call of the model before it did that begins in the same line.
[[nodiscard]] std::uint64_t needed_as_in_call(const blocks::evidence& of, block_number refused,
                                              const request_log& changed) {
  struct call {
    std::uint32_t number = 0;
    trace::object_id root;
    trace::stack_id stack;  // of its first block
    std::uint64_t begin = 0;
  };
  std::vector<call> calls;
  for (block_number block = 0; block < refused; ++block) {
    const auto facts = of.blocks[block];
    const bool is_new = facts.call != 0 && (calls.empty() || calls.back().number < facts.call);
    if (is_new) calls.push_back({facts.call, facts.root, facts.stack, birth_event(of, block)});
  }
  for (std::size_t i = calls.size(); i-- > 1;) {
    const auto& earlier = calls[i - 1];
    if (earlier.root != calls.back().root || earlier.stack != calls.back().stack) continue;
    return needed_as_in({earlier.begin, calls[i].begin}, of, refused, calls.back().begin, changed);
  }
  return 0;
}

[[nodiscard]] std::uint64_t needed_as_before(const blocks::evidence& of, block_number refused,
                                             const blocks::run_passes& passes,
                                             const request_log& changed) {
  const auto as_in_pass = needed_as_in_pass(of, refused, passes, changed);
  return as_in_pass != 0 ? as_in_pass : needed_as_in_call(of, refused, changed);
}

// What is known of what follows the request that was refused.
struct what_follows {
  std::uint64_t bytes = 0;  // at least, with what is there
  bool is_known = false;    // it is hardly more
};

// The least that the pass, or the call of a model, takes in which memory ran out. `allocated`: at most, up
// to the refused request.
[[nodiscard]] what_follows needed_by_pass(const blocks::evidence& of, block_number refused,
                                          const request_log& changed, std::uint64_t allocated) {
  const auto passes = passes_of(of);
  const auto as_before = needed_as_before(of, refused, passes, changed);
  if (as_before != 0 || passes.training.size() > 1) {
    return {std::max(allocated, as_before), as_before != 0};
  }
  std::vector<std::uint64_t> sizes(of.blocks.size(), 0);
  for (const auto& asked : changed.requests) {
    const bool is_there = asked.what() == allocator::action::allocate && asked.block < sizes.size();
    if (is_there) sizes[asked.block] = asked.size;
  }
  // The activations that were there at the peak are gone by then.
  if (const auto update = first_update_of(of, refused, sizes)) {
    return {std::max(allocated, update->alive + update->left()), true};
  }
  const rest_of_pass rest(of, birth_event(of, refused), sizes);
  if (passes.training.empty()) {
    return {allocated + (passes.unfinished ? rest.from_forward() : 0), false};
  }
  const bool in_backward = passes.training.front().end == end_event(of);
  return {allocated + (in_backward ? rest.from_backward() : 0), in_backward};
}

// Whether as much was allocated before as with the request that was refused: it was in pieces, then.
[[nodiscard]] bool has_had_as_much(const blocks::evidence& of, block_number refused) {
  std::vector<std::uint64_t> sizes(of.blocks.size(), 0);
  std::uint64_t now = 0;
  std::uint64_t most = 0;
  for (const auto& asked : of.log.requests) {
    if (asked.block == refused) break;
    if (asked.block >= sizes.size()) continue;
    auto& size = sizes[asked.block];
    if (asked.what() == allocator::action::allocate) now += size = asked.size;
    if (asked.what() == allocator::action::free) now -= std::min(now, std::exchange(size, 0));
    most = std::max(most, now);
  }
  return now + bytes_of(of, refused) <= most;
}

}  // namespace

prover::prover(const blocks::evidence& of) : of_(of), refused_(fatal_refusal(of)), log_(&of.log) {
  under_ = device_ = allocator::as_recorded(of.log);
  if (refused_) {
    until_refusal_ = up_to(of.log, *refused_);
    log_ = &until_refusal_;
    under_.usable_bytes = under_.total_bytes = 0;
  }
  before_ = allocator::replay_all_policies(*log_, under_);
  reserved_before_ = before_.lowest_addresses.reserved.bytes;
  allocated_before_ = before_.lowest_addresses.allocated.bytes;
  if (refused_) {
    changed nothing;
    change({}, nothing);
    reserved_before_ = least_memory(nothing, before_.lowest_addresses);
  }
  if (const auto* const recorded = of.replayed.device(of.log.device);
      recorded != nullptr && of.part.empty() && !refused_) {
    reserved_before_ = recorded->allocator.peak_reserved().totals.reserved;
    allocated_before_ = recorded->allocator.peak_allocated().totals.allocated;
    // Addresses that no policy imagines are luck that a change need not undo.
    reserved_before_ = std::min(reserved_before_, before_.worst.reserved.bytes);
  }
}

std::uint64_t prover::least_saving() const {
  // Capacities are told apart by a step.
  if (refused_) return capacity_step();
  return std::max(reserved_before_ / least_part, least_bytes);
}

void prover::change(const std::vector<const proposal*>& all, changed& into) const {
  into.under = under_;
  into.log = log_;
  for (const auto* const one : all) {
    if (one->options) into.under.options = *one->options;
    if (!one->rewrite) continue;
    if (into.log == log_) into.rewritten = *log_;
    into.log = &into.rewritten;
    one->rewrite(into.rewritten);
    into.rewritten.answers.reset();
  }
}

std::optional<std::uint64_t> prover::peak_with(const std::vector<const proposal*>& all,
                                               bool all_policies) const {
  changed what;
  change(all, what);
  const auto found = all_policies ? allocator::replay_all_policies(*what.log, what.under).worst
                                  : allocator::replay(*what.log, what.under);
  if (found.out_of_memory) return std::nullopt;
  return refused_ ? least_memory(what, found) : found.reserved.bytes;
}

std::optional<piece> prover::prove(const proposal& what) const {
  piece made;
  made.what = what;
  made.changes_program = static_cast<bool>(what.rewrite);
  made.replayed = what.options || what.rewrite;
  if (!what.options && !what.rewrite) {
    made.saves_bytes = static_cast<std::int64_t>(what.saves_bytes.value_or(0));
    made.saves_bytes_most = made.saves_bytes;
    return made;
  }
  changed now;
  change({&what}, now);
  // One policy is enough to see that nothing is won.
  const auto first = allocator::replay(*now.log, now.under);
  const bool may_save =
      less(reserved_before_, first.reserved.bytes) >= static_cast<std::int64_t>(least_saving()) ||
      first.retries < before_.lowest_addresses.retries || refused_ || what.saves_ns;
  if (!may_save || (first.out_of_memory && !refused_)) return std::nullopt;
  const auto after = allocator::replay_all_policies(*now.log, now.under, &first);
  if (after.worst.out_of_memory) return std::nullopt;
  const auto worst = refused_ ? least_memory(now, after.worst) : after.worst.reserved.bytes;
  made.saves_bytes = less(reserved_before_, worst);
  made.saves_bytes_most =
      refused_ ? made.saves_bytes : less(reserved_before_, after.best.reserved.bytes);
  made.saves_allocated = less(allocated_before_, after.worst.allocated.bytes);
  if (made.saves_bytes < 0 && is_short(after.worst.reserved.bytes)) return std::nullopt;
  made.retries_before = before_.worst.retries;
  made.retries_after = after.worst.retries;
  if (refused_) {
    now.under.total_bytes = device_.total_bytes;
    now.under.usable_bytes = device_.usable_bytes;
    const auto here = allocator::replay_all_policies(*now.log, now.under);
    made.mends_out_of_memory =
        !here.worst.out_of_memory &&
        leaves_room(*now.log, after.worst.allocated.bytes, what.options.has_value());
    made.retries_after = here.worst.retries;
    // A setting has this one use then.
    if (what.options && !made.mends_out_of_memory) return std::nullopt;
  }
  return made;
}

// For what follows. A setting, which leaves all that is there, helps this one request alone where nothing
// says what that is, unless the program has had as much before.
bool prover::leaves_room(const request_log& log, std::uint64_t allocated, bool by_setting) const {
  if (device_.usable_bytes == 0) return true;
  const auto needed = needed_by_pass(of_, *refused_, log, allocated);
  if (needed.bytes > device_.usable_bytes) return false;
  return !by_setting || needed.is_known || has_had_as_much(of_, *refused_);
}

std::uint64_t prover::capacity_step() const {
  const auto whole = refused_ ? allocated_before_ : reserved_before_;
  return std::max(whole / capacity_parts, least_bytes);
}

std::uint64_t prover::least_memory(const changed& what,
                                   const allocator::outcome& without_limit) const {
  constexpr bool every_policy = false;
  const auto most = without_limit.reserved.bytes;
  return smallest(what, most, every_policy).value_or(most);
}

// Time may be saved at the price of memory only where there is plenty of it.
bool prover::is_short(std::uint64_t reserved) const {
  return device_.usable_bytes != 0 && reserved > device_.usable_bytes / 10 * 7;
}

std::optional<std::uint64_t> prover::smallest(const changed& what, std::uint64_t most,
                                              bool every_policy) const {
  auto under = what.under;
  under.total_bytes = device_.total_bytes;
  const auto found =
      allocator::find_smallest_fit(*what.log, under, most, capacity_step(), every_policy);
  return found ? std::optional(found->usable_bytes) : std::nullopt;
}

std::optional<std::uint64_t> prover::smallest_with(const std::vector<const proposal*>& all) const {
  changed what;
  change(all, what);
  constexpr bool every_policy = true;
  return smallest(what, std::max(reserved_before_ * 2, device_.usable_bytes), every_policy);
}

void prover::find_capacities(const std::vector<piece*>& pieces) const {
  if (pieces.empty()) return;
  std::optional<std::uint64_t> before;
  std::vector<std::optional<std::uint64_t>> after(pieces.size());
  allocator::side_by_side(pieces.size() + 1, [&](std::size_t i) {
    if (i == 0) {
      before = smallest_with({});
    } else {
      after[i - 1] = smallest_with({&pieces[i - 1]->what});
    }
  });
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (before && after[i]) pieces[i]->saves_capacity = less(*before, *after[i]);
  }
}

}  // namespace memtrace::advice
