// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/census_schedule.h"

#include <algorithm>

#include "interpose/sight/agent/milestones.h"

namespace memtrace::agent {

namespace {

constexpr std::uint64_t milestones_per_mille = 20;
constexpr std::uint64_t fillers_per_mille = 2;
constexpr std::uint64_t high_water_per_mille = 10;
// How often growth may begin.
constexpr std::uint32_t most_starts = 3;
constexpr std::uint64_t few_rises = 4;
// Episodes without steps come again and again, and each begins to count anew: after so many
// censuses of them there are no milestones any more.
constexpr std::uint32_t most_interval_milestones = 24;
// Fewer events than this are no interval.
constexpr std::uint64_t fewest_events = 256;
constexpr std::uint64_t fewest_between = 4;

}  // namespace

std::uint64_t census_schedule::elapsed(std::uint64_t now_ns) const noexcept {
  return now_ns > began_ns_ ? now_ns - began_ns_ : 0;
}

bool census_schedule::is_due(const pace& now, const payer& from, bool begins_free,
                             std::uint64_t now_ns, std::uint64_t allocated) const noexcept {
  if (now.count >= now.milestone) {
    if (begins_free && from.account.is_free()) return true;
    if (from.account.affords(elapsed(now_ns), milestones_per_mille)) return true;
  }
  const std::uint64_t pause = std::max(fewest_between, now.count / 8);
  return from.account.has_paid() && now.count - now.last >= pause && from.allocated != allocated &&
         from.account.affords(elapsed(now_ns), fillers_per_mille);
}

void census_schedule::pass(pace& passed) noexcept {
  passed.last = passed.count;
  while (passed.milestone <= passed.count) {
    passed.milestone = milestone_after(passed.milestone);
  }
}

void census_schedule::end_events() noexcept {
  learn_usual(usual_events_, events_.count);
  events_ = {.milestone = std::max(fewest_events, 2 * usual_events_)};
}

void census_schedule::see_growth(std::uint64_t allocated) noexcept {
  if (allocated > growth_.most) {
    growth_.most = allocated;
    ++growth_.rises;
  }
  if (!growth_.was_quiet || growth_.rises < few_rises || growth_.starts == most_starts) return;
  growth_.was_quiet = false;
  ++growth_.starts;
  steps_ = {};
  for_steps_.account.begin_anew();
}

bool census_schedule::step(std::uint64_t now_ns, std::uint64_t allocated) noexcept {
  ++steps_.count;
  learn_usual(usual_calls_, calls_.count);
  calls_ = {.milestone = 2 * usual_calls_ + 4};
  end_events();
  if (has_several_ranks_) return is_milestone(steps_.count);
  see_growth(allocated);
  return is_due(steps_, for_steps_, true, now_ns, allocated);
}

bool census_schedule::call(std::uint64_t now_ns, std::uint64_t allocated) noexcept {
  ++calls_.count;
  end_events();
  if (has_several_ranks_ || calls_.count <= 2 * usual_calls_) return false;
  if (for_intervals_.account.taken() >= most_interval_milestones) calls_.milestone = ~0ull;
  return is_due(calls_, for_intervals_, true, now_ns, allocated);
}

bool census_schedule::events(std::uint64_t more, std::uint64_t now_ns,
                             std::uint64_t allocated) noexcept {
  events_.count += more;
  if (has_several_ranks_ || events_.count < std::max(fewest_events, 2 * usual_events_))
    return false;
  if (for_intervals_.account.taken() >= most_interval_milestones) events_.milestone = ~0ull;
  return is_due(events_, for_intervals_, false, now_ns, allocated);
}

bool census_schedule::high_water(std::uint64_t now_ns) const noexcept {
  return !has_several_ranks_ &&
         for_high_water_.account.affords(elapsed(now_ns), high_water_per_mille);
}

bool census_schedule::out_of_memory(std::uint64_t now_ns) const noexcept {
  const census_account& account = for_failures_.account;
  return account.is_free() || account.affords(elapsed(now_ns), milestones_per_mille);
}

void census_schedule::took(format::census_reason why, std::uint64_t allocated,
                           std::uint64_t nanoseconds) noexcept {
  payer* from = nullptr;
  switch (why) {
    case format::census_reason::step:
      from = &for_steps_;
      growth_.was_quiet = steps_.count - steps_.last >= 2 * few_rises && growth_.rises < few_rises;
      growth_.rises = 0;
      pass(steps_);
      break;
    case format::census_reason::interval:
      from = &for_intervals_;
      pass(calls_);
      pass(events_);
      break;
    case format::census_reason::high_water:
      from = &for_high_water_;
      break;
    case format::census_reason::out_of_memory:
      from = &for_failures_;
      break;
    default:
      return;  // asked for
  }
  from->account.pay(nanoseconds);
  from->allocated = allocated;
}

}  // namespace memtrace::agent
