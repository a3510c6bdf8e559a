// SPDX-License-Identifier: Apache-2.0
//
// Memory that one call site takes over from another: in the second epoch each entry of a table is
// replaced by a new one, which another line makes. The line grows, and memory does not.
#pragma once

#include "analyzer/base/statistics/series.h"

namespace memtrace::verdicts {

// Whether nearly each time that `growing` rose `other` fell by as much, in the same step or one
// beside it.
[[nodiscard]] bool replaces(const growth::series& growing, const growth::series& other);

}  // namespace memtrace::verdicts
