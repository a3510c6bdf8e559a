// SPDX-License-Identifier: Apache-2.0
#include "interpose/census/census.h"

#include <time.h>

namespace memtrace::census {

namespace {

std::uint64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

std::uint64_t take(recorder& to, format::census_reason why, const limits&) noexcept {
  const std::uint64_t start = now_ns();
  to.census({.action = format::census_action::begin, .reason = why});
  const std::uint64_t taken = now_ns() - start;
  to.census({.action = format::census_action::end, .reason = why, .nanoseconds = taken});
  return taken;
}

}  // namespace memtrace::census
