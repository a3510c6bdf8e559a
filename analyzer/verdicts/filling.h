// SPDX-License-Identifier: Apache-2.0
//
// Growth that a bounded container holds (deque(maxlen=…), lru_cache(maxsize=…)) is a buffer that
// fills. No statistic of the series alone can tell it from a leak; the census can.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/verdicts/verdict.h"

namespace memtrace::verdicts {

struct filling {
  const retainer* container = nullptr;
  std::uint64_t length = 0;
  std::uint64_t limit = 0;                     // 0: bounded, but nobody said where
  std::optional<std::uint64_t> steps_to_full;  // at the rate at which it fills
};

// Where most of what the culprit keeps is in a bounded container.
[[nodiscard]] std::optional<filling> filling_of(const culprit& who);

// Culprits whose memory is in bounded containers get the shape warmup_plateau; so does a verdict
// most of whose growth is theirs, unless what is left still grows. `overturned_by` says what would
// make a leak of it.
void judge_filling(findings& found);

}  // namespace memtrace::verdicts
