// SPDX-License-Identifier: Apache-2.0
//
// Single lasting shifts (a layer unfrozen, a second model loaded or dropped) that would drown
// everything else: taken out, so that the rest can be judged.
#pragma once

#include <vector>

#include "analyzer/base/statistics/jumps.h"
#include "analyzer/base/statistics/points.h"

namespace memtrace::growth {

// Takes out at most two step-to-step changes, each at least 8 times as large as any that is left;
// not two falls between which it has risen as much again.
[[nodiscard]] std::vector<jump> take_out_shifts(stretch& steps, double least);

}  // namespace memtrace::growth
