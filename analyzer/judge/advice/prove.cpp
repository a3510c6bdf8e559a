// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/prove.h"

#include <algorithm>
#include <utility>

#include "analyzer/judge/blocks/passes.h"
#include "analyzer/judge/blocks/what_follows.h"
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

}  // namespace

prover::prover(const blocks::evidence& of) : log_(&of.log) {
  under_ = device_ = allocator::as_recorded(of.log);
  if (const auto refused = fatal_refusal(of)) {
    refused_.emplace(blocks::run_until(of, *refused));
    until_refusal_ = up_to(of.log, *refused);
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
    const bool leaves_all = what.options.has_value() || made.saves_allocated <= 0;
    const auto room = here.worst.out_of_memory
                          ? room_left::too_little
                          : room_after(now, {after.worst.allocated.bytes, worst, leaves_all});
    made.is_settled = room == room_left::enough;
    made.gets_past_request = room == room_left::unknown && leaves_all;
    made.mends_out_of_memory = room != room_left::too_little && !made.gets_past_request;
    made.retries_after = here.worst.retries;
    // A setting has this one use then.
    if (what.options && room == room_left::too_little) return std::nullopt;
  }
  return made;
}

prover::room_left prover::room_after(const changed& what, const got_through& with) const {
  if (device_.usable_bytes == 0) return room_left::enough;
  const auto needed = blocks::needed_after(*refused_, *what.log, with.allocated);
  // What a setting leaves in pieces is in the way of what follows, but for what is added bit by bit.
  const auto in_pieces = with.leaves_all ? with.least - std::min(with.least, with.allocated) : 0;
  if (needed.bytes + std::max(in_pieces, needed.rise) > device_.usable_bytes)
    return room_left::too_little;
  if (with.leaves_all) {
    const auto longer = blocks::continued_as_before(*refused_, *what.log);
    if (longer && allocator::replay_all_policies(*longer, what.under).worst.out_of_memory)
      return room_left::too_little;
  }
  const bool is_as_before = !needed.is_larger && blocks::has_had_as_much(*refused_);
  return needed.is_known || is_as_before ? room_left::enough : room_left::unknown;
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
