// SPDX-License-Identifier: Apache-2.0
//
// What all verdicts of a run have in common.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/judge/verdicts/device_series.h"
#include "analyzer/judge/verdicts/step_clock.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/model/replay/replay.h"

namespace memtrace::verdicts {

struct verdict_maker {
  const replay::replayer& replayed;
  std::string unit;  // of the series: step, call, event window

  // Bytes of a device that PyTorch's allocator can have; 0: not known.
  [[nodiscard]] std::uint64_t capacity_of(std::uint32_t device) const;
  [[nodiscard]] verdict make(subject about, growth::judgement found,
                             const thinned_series* shown) const;
  // Steps and time to out-of-memory, here and elsewhere.
  void say_when(verdict& made, const device_series& whole, const step_clock& clock) const;
};

// 10,000 steps of it stay below 1 MiB or 0.05 % of the device.
[[nodiscard]] bool is_negligible(double bytes_per_step, std::uint64_t capacity);

}  // namespace memtrace::verdicts
