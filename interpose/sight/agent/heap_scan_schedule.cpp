// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/heap_scan_schedule.h"

#include <algorithm>

namespace memtrace::agent {

namespace {

constexpr std::uint64_t milestones_per_mille = 20;
constexpr std::uint64_t fillers_per_mille = 2;
constexpr std::uint64_t growth_per_mille = 20;
constexpr std::uint64_t high_water_per_mille = 10;
// How often growth may begin.
constexpr std::uint32_t most_starts = 3;
constexpr std::uint64_t few_rises = 4;
// Episodes without steps come again and again, and each begins to count anew: after so many
// heap scans of them there are no milestones any more.
constexpr std::uint32_t most_interval_milestones = 24;
// Fewer events than this are no interval.
constexpr std::uint64_t fewest_events = 256;
constexpr std::uint64_t fewest_between = 4;

}  // namespace

std::uint64_t heap_scan_schedule::elapsed(std::uint64_t now_ns) const noexcept {
  return now_ns > began_ns_ ? now_ns - began_ns_ : 0;
}

bool heap_scan_schedule::is_due(std::uint64_t count, const pace& now, const payer& from,
                                bool begins_free, std::uint64_t now_ns,
                                std::uint64_t allocated) const noexcept {
  if (count >= now.milestone) {
    if (begins_free && from.account.is_free()) return true;
    if (from.account.affords(elapsed(now_ns), milestones_per_mille)) return true;
  }
  const std::uint64_t pause = std::max(fewest_between, count / 8);
  return from.account.has_paid() && count - now.last >= pause && from.allocated != allocated &&
         from.account.affords(elapsed(now_ns), fillers_per_mille);
}

bool heap_scan_schedule::is_interval_due(std::uint64_t count, pace& now, bool begins_free,
                                         std::uint64_t now_ns, std::uint64_t allocated) noexcept {
  const payer& from = timetable_.for_intervals;
  if (from.account.taken() >= most_interval_milestones) now.milestone = ~0ull;
  return is_due(count, now, from, begins_free, now_ns, allocated);
}

bool heap_scan_schedule::is_due(growth_watch& watch, std::uint64_t now_ns,
                                std::uint64_t allocated) noexcept {
  if (!watch.grows(allocated) || !watch.is_due()) return false;
  const heap_scan_account& account = growth_.account;
  return account.is_free() || account.affords(elapsed(now_ns), growth_per_mille);
}

void heap_scan_schedule::pace::pass(std::uint64_t count) noexcept {
  last = count;
  while (milestone <= count) milestone = milestone_after(milestone);
}

void heap_scan_schedule::end_events() noexcept {
  events_.end();
  timetable_.events = {.milestone = std::max(fewest_events, 2 * events_.usual)};
  growth_.events.restart();
  growth_.window = 0;
  growth_.least = ~0ull;
}

void heap_scan_schedule::see_rise(std::uint64_t allocated) noexcept {
  timetable& table = timetable_;
  if (allocated > table.most) {
    table.most = allocated;
    ++table.rises;
  }
  if (!table.was_quiet || table.rises < few_rises || table.starts == most_starts) return;
  table.was_quiet = false;
  ++table.starts;
  table.step_count = 0;
  table.steps = {};
  table.for_steps.account.begin_anew();
}

bool heap_scan_schedule::step(std::uint64_t now_ns, std::uint64_t allocated) noexcept {
  calls_.end();
  timetable_.calls = {.milestone = 2 * calls_.usual + 4};
  growth_.calls.restart();
  end_events();
  if (has_timetable_) {
    timetable& table = timetable_;
    ++table.step_count;
    if (has_several_ranks_) return is_milestone(table.step_count);
    see_rise(allocated);
    return is_due(table.step_count, table.steps, table.for_steps, true, now_ns, allocated);
  }
  growth_watch& steps = growth_.steps;
  if (!has_several_ranks_) return is_due(steps, now_ns, allocated);
  static_cast<void>(steps.grows(allocated));
  return steps.has_grown() && steps.may_look() && is_milestone(steps.count());
}

bool heap_scan_schedule::call(std::uint64_t now_ns, std::uint64_t allocated) noexcept {
  ++calls_.count;
  end_events();
  if (has_several_ranks_ || calls_.count <= 2 * calls_.usual) return false;
  if (has_timetable_) {
    return is_interval_due(calls_.count, timetable_.calls, true, now_ns, allocated);
  }
  if (!is_due(growth_.calls, now_ns, allocated)) return false;
  growth_.is_for_events = false;
  return true;
}

bool heap_scan_schedule::events(std::uint64_t more, std::uint64_t now_ns,
                                std::uint64_t allocated) noexcept {
  events_.count += more;
  growth& now = growth_;
  now.least = std::min(now.least, allocated);
  if (has_several_ranks_ || events_.count < std::max(fewest_events, 2 * events_.usual))
    return false;
  if (has_timetable_) {
    return is_interval_due(events_.count, timetable_.events, false, now_ns, allocated);
  }
  if (events_.count - now.window < fewest_events) return false;
  now.window = events_.count;
  const bool due = is_due(now.events, now_ns, now.least);
  now.least = ~0ull;
  if (due) now.is_for_events = true;
  return due;
}

bool heap_scan_schedule::high_water(std::uint64_t now_ns) const noexcept {
  return !has_several_ranks_ && for_high_water_.affords(elapsed(now_ns), high_water_per_mille);
}

bool heap_scan_schedule::out_of_memory(std::uint64_t now_ns) const noexcept {
  return for_failures_.is_free() || for_failures_.affords(elapsed(now_ns), milestones_per_mille);
}

void heap_scan_schedule::took_by_timetable(bool step, std::uint64_t allocated,
                                           std::uint64_t nanoseconds) noexcept {
  timetable& table = timetable_;
  if (step) {
    table.was_quiet =
        table.step_count - table.steps.last >= 2 * few_rises && table.rises < few_rises;
    table.rises = 0;
    table.steps.pass(table.step_count);
  } else {
    table.calls.pass(calls_.count);
    table.events.pass(events_.count);
  }
  payer& from = step ? table.for_steps : table.for_intervals;
  from.account.pay(nanoseconds);
  from.allocated = allocated;
}

void heap_scan_schedule::took_by_growth(bool step, std::uint64_t nanoseconds) noexcept {
  if (step) {
    growth_.steps.looked();
  } else {
    (growth_.is_for_events ? growth_.events : growth_.calls).looked();
  }
  growth_.account.pay(nanoseconds);
}

void heap_scan_schedule::took(format::census_reason why, std::uint64_t allocated,
                              std::uint64_t nanoseconds) noexcept {
  switch (why) {
    case format::census_reason::step:
    case format::census_reason::interval: {
      const bool step = why == format::census_reason::step;
      if (has_timetable_) return took_by_timetable(step, allocated, nanoseconds);
      return took_by_growth(step, nanoseconds);
    }
    case format::census_reason::high_water:
      return for_high_water_.pay(nanoseconds);
    case format::census_reason::out_of_memory:
      return for_failures_.pay(nanoseconds);
    default:
      return;  // asked for
  }
}

}  // namespace memtrace::agent
