// SPDX-License-Identifier: Apache-2.0
//
// Of the allocated memory of a device. Call sites decide whether it accumulates; the series of the
// whole says how it looks, and alone is fooled by what changes once, by random lengths, and by
// small leaks beside large batches.
#pragma once

#include "analyzer/judge/verdicts/culprits.h"
#include "analyzer/judge/verdicts/verdict_maker.h"

namespace memtrace::verdicts {

[[nodiscard]] verdict judge_device(const verdict_maker& with, subject about,
                                   const device_timeline& device, const growing_sites& sites,
                                   const step_clock& clock, const growth::context& context);

}  // namespace memtrace::verdicts
