// SPDX-License-Identifier: Apache-2.0
//
// Signs in a program's own lines that what it gathers may come to an end, where they do not say
// where (shown_bound.h), and a short run has not come to it:
//
//   if key not in self.made: self.made[key] = …     a key that has come again adds nothing
//   if self.stale(x): self.items.remove(x)          not yet: nothing has gone so far
//   while len(self.items) > self.room(): …          of a length that the lines do not give
//
// None of them makes growth harmless. A run of so few steps just does not tell: neither "it leaks"
// nor "it does not" would be right more often than it is wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/verdicts/verdict.h"

namespace memtrace::verdicts {

struct gathered {
  std::string_view variable;     // memory.items
  std::uint64_t length = 0;      // elements; 0: not known
  std::string_view numbers;      // beside it, as the census has written them
  bool gets_longer = false;      // from census to census
  bool keys_come_again = false;  // by the steps in which it grew: some, and not at even distances
};

// In the lines of a file. None: nothing says that it may end, or the run has shown that it does
// not.
[[nodiscard]] std::optional<open_end> may_end(const std::vector<std::string>& lines,
                                              const gathered& what);

}  // namespace memtrace::verdicts
