// SPDX-License-Identifier: Apache-2.0
//
// Which call sites of a device hold ever more memory, and which of them matter.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/judge/verdicts/timeline.h"
#include "analyzer/judge/verdicts/verdict.h"

namespace memtrace::verdicts {

// What the sites of a device say together.
struct growing_sites {
  std::vector<culprit> all;      // that leak, most bytes a step first, optimizers' states last
  double bytes_per_step = 0;     // of all of them
  std::vector<culprit> filling;  // that fill and empty, largest share of the rise first
  bool work_grows = false;       // sites hold ever more only since the steps' inputs get larger
  // Of the site that grew most, leaking or not, as far as it is not a leak.
  growth::shape largest_otherwise = growth::shape::steady;
};

[[nodiscard]] growing_sites find_growing(std::uint32_t index, const device_timeline& device,
                                         const growth::context& about);

// The first few, which explain the growth: the list ends where the next site has less than half of
// the one before it once half of the growth is explained, and at 80 % of the growth (after the
// suspect list of Chromium's leak detector).
[[nodiscard]] std::vector<culprit> suspects_of(const std::vector<culprit>& sites);

}  // namespace memtrace::verdicts
