// SPDX-License-Identifier: Apache-2.0
//
// Where a program's own lines bound what it gathers:
//
//   if len(self.items) < self.capacity:        budget = 320 … while len(pool.pictures) < budget:
//   self.items[self.at % self.capacity] = x    features = features[-window:]
//
// The text of the source says what the length is compared with, and the census which number that
// was. A line that is never reached, or that only prints, is taken for a bound, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/verdicts/verdict.h"

namespace memtrace::verdicts {

// Of the container `variable` ("memory.items"), which has `length` elements (0: not known), in the
// lines of a file; `numbers` as the census has written them. None: no line bounds it, or at less
// than it holds.
[[nodiscard]] std::optional<shown_bound> bound_in(const std::vector<std::string>& lines,
                                                  std::string_view variable,
                                                  std::string_view numbers, std::uint64_t length);

}  // namespace memtrace::verdicts
