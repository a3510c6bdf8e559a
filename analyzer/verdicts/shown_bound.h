// SPDX-License-Identifier: Apache-2.0
//
// Where a program's own lines bound what it gathers:
//
//   if len(self.items) < self.capacity:        budget = 320 … while len(pool.pictures) < budget:
//   self.items[self.at % self.capacity] = x    features = features[-window:]
//
//   slot = step % 14 … self.items[slot] = x        items = dict.fromkeys(range(capacity))
//
// The text of the source says what the length is compared with, and the census which number that
// was, if the file does not. A line that is never reached, or that only prints, is taken for a
// bound, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/verdicts/verdict.h"

namespace memtrace::verdicts {

struct bounded_container {
  std::string_view variable;  // memory.items
  std::uint64_t length = 0;   // elements; 0: not known
  std::uint64_t blocks = 0;   // of memory that it holds
  std::string_view numbers;   // beside it, as the census has written them
};

// In the lines of a file. None: no line bounds it, or it is full and still compared.
// A ring that is full stays a ring.
[[nodiscard]] std::optional<shown_bound> bound_in(const std::vector<std::string>& lines,
                                                  const bounded_container& what);

}  // namespace memtrace::verdicts
