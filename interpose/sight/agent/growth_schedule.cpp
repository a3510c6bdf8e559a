// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/growth_schedule.h"

#include <algorithm>

#include "interpose/sight/agent/milestones.h"

namespace memtrace::agent {

namespace {

constexpr std::uint64_t per_mille = 20;
constexpr std::uint64_t window_events = 256;

}  // namespace

bool growth_schedule::is_due(growth_watch& watch, std::uint64_t now_ns,
                             std::uint64_t allocated) noexcept {
  if (!watch.grows(allocated) || !watch.is_due()) return false;
  const std::uint64_t elapsed = now_ns > began_ns_ ? now_ns - began_ns_ : 0;
  return account_.is_free() || account_.affords(elapsed, per_mille);
}

void growth_schedule::end_events() noexcept {
  learn_usual(usual_events_, event_count_);
  event_count_ = window_ = 0;
  least_ = ~0ull;
  events_.restart();
}

bool growth_schedule::step(std::uint64_t now_ns, std::uint64_t allocated) noexcept {
  learn_usual(usual_calls_, call_count_);
  call_count_ = 0;
  calls_.restart();
  end_events();
  if (!has_several_ranks_) return is_due(steps_, now_ns, allocated);
  static_cast<void>(steps_.grows(allocated));
  return steps_.has_grown() && steps_.may_look() && is_milestone(steps_.count());
}

bool growth_schedule::call(std::uint64_t now_ns, std::uint64_t allocated) noexcept {
  ++call_count_;
  end_events();
  if (has_several_ranks_ || call_count_ <= 2 * usual_calls_) return false;
  if (!is_due(calls_, now_ns, allocated)) return false;
  is_for_events_ = false;
  return true;
}

bool growth_schedule::events(std::uint64_t more, std::uint64_t now_ns,
                             std::uint64_t allocated) noexcept {
  event_count_ += more;
  least_ = std::min(least_, allocated);
  if (has_several_ranks_ || event_count_ < 2 * usual_events_) return false;
  if (event_count_ - window_ < window_events) return false;
  window_ = event_count_;
  const bool due = is_due(events_, now_ns, least_);
  least_ = ~0ull;
  if (due) is_for_events_ = true;
  return due;
}

void growth_schedule::took(format::census_reason why, std::uint64_t nanoseconds) noexcept {
  if (why == format::census_reason::step) {
    steps_.looked();
  } else if (why == format::census_reason::interval) {
    (is_for_events_ ? events_ : calls_).looked();
  } else {
    return;  // asked for, or memory ran out
  }
  account_.pay(nanoseconds);
}

}  // namespace memtrace::agent
