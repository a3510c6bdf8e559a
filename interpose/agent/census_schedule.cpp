// SPDX-License-Identifier: Apache-2.0
#include "interpose/agent/census_schedule.h"

#include <algorithm>

namespace memtrace::agent {

namespace {

constexpr std::uint64_t milestones_per_mille = 20;
constexpr std::uint64_t fillers_per_mille = 2;
constexpr std::uint64_t high_water_per_mille = 10;
constexpr std::uint32_t always_free = 3;
constexpr std::uint32_t often_free = 8;
// How often growth may begin.
constexpr std::uint32_t most_starts = 3;
constexpr std::uint64_t few_rises = 4;
constexpr std::uint64_t free_again_ns = 250'000'000;
// Episodes without steps come again and again, and each begins to count anew: after so many
// censuses of them there are no milestones any more.
constexpr std::uint32_t most_interval_milestones = 24;
// Fewer events than this are no interval.
constexpr std::uint64_t fewest_events = 256;
constexpr std::uint64_t fewest_between = 4;

// What comes several times in each step takes the place of `usual`; what is much more is an
// episode of its own, an evaluation for example.
void learn(std::uint64_t& usual, std::uint64_t count) noexcept {
  if (usual == 0 || count <= 4 * usual + 4) usual = count;
}

}  // namespace

bool census_schedule::affords(const account& payer, std::uint64_t now_ns,
                              std::uint64_t per_mille) const noexcept {
  const std::uint64_t elapsed = now_ns > began_ns_ ? now_ns - began_ns_ : 0;
  return payer.spent_ns + payer.last_ns <= elapsed / 1000 * per_mille;
}

bool census_schedule::is_free(const account& payer) noexcept {
  return payer.taken < always_free ||
         (payer.taken < often_free && payer.spent_ns + payer.last_ns <= payer.free_ns);
}

bool census_schedule::is_due(const pace& now, const account& payer, bool begins_free,
                             std::uint64_t now_ns, std::uint64_t allocated) const noexcept {
  if (now.count >= now.milestone) {
    if (begins_free && is_free(payer)) return true;
    if (affords(payer, now_ns, milestones_per_mille)) return true;
  }
  const std::uint64_t pause = std::max(fewest_between, now.count / 8);
  return payer.taken > 0 && now.count - now.last >= pause && payer.allocated != allocated &&
         affords(payer, now_ns, fillers_per_mille);
}

void census_schedule::pass(pace& passed) noexcept {
  passed.last = passed.count;
  while (passed.milestone <= passed.count) {
    passed.milestone = std::max(passed.milestone + 3, passed.milestone * 9 / 5);
  }
}

void census_schedule::end_events() noexcept {
  learn(usual_events_, events_.count);
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
  for_steps_.taken = 0;
  for_steps_.free_ns = for_steps_.spent_ns + free_again_ns;
}

bool census_schedule::step(std::uint64_t now_ns, std::uint64_t allocated) noexcept {
  ++steps_.count;
  learn(usual_calls_, calls_.count);
  calls_ = {.milestone = 2 * usual_calls_ + 4};
  end_events();
  see_growth(allocated);
  return is_due(steps_, for_steps_, true, now_ns, allocated);
}

bool census_schedule::call(std::uint64_t now_ns, std::uint64_t allocated) noexcept {
  ++calls_.count;
  end_events();
  if (calls_.count <= 2 * usual_calls_) return false;
  if (for_intervals_.taken >= most_interval_milestones) calls_.milestone = ~0ull;
  return is_due(calls_, for_intervals_, true, now_ns, allocated);
}

bool census_schedule::events(std::uint64_t more, std::uint64_t now_ns,
                             std::uint64_t allocated) noexcept {
  events_.count += more;
  if (events_.count < std::max(fewest_events, 2 * usual_events_)) return false;
  if (for_intervals_.taken >= most_interval_milestones) events_.milestone = ~0ull;
  return is_due(events_, for_intervals_, false, now_ns, allocated);
}

bool census_schedule::high_water(std::uint64_t now_ns) const noexcept {
  return affords(for_high_water_, now_ns, high_water_per_mille);
}

bool census_schedule::out_of_memory(std::uint64_t now_ns) const noexcept {
  return is_free(for_failures_) || affords(for_failures_, now_ns, milestones_per_mille);
}

void census_schedule::took(format::census_reason why, std::uint64_t allocated,
                           std::uint64_t nanoseconds) noexcept {
  account* payer = nullptr;
  switch (why) {
    case format::census_reason::step:
      payer = &for_steps_;
      growth_.was_quiet = steps_.count - steps_.last >= 2 * few_rises && growth_.rises < few_rises;
      growth_.rises = 0;
      pass(steps_);
      break;
    case format::census_reason::interval:
      payer = &for_intervals_;
      pass(calls_);
      pass(events_);
      break;
    case format::census_reason::high_water:
      payer = &for_high_water_;
      break;
    case format::census_reason::out_of_memory:
      payer = &for_failures_;
      break;
    default:
      return;  // asked for
  }
  payer->spent_ns += nanoseconds;
  payer->last_ns = nanoseconds;
  payer->allocated = allocated;
  ++payer->taken;
}

}  // namespace memtrace::agent
