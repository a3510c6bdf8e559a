// SPDX-License-Identifier: Apache-2.0
//
// Where a program's own lines bound what it gathers:
//
//   if len(self.items) < self.capacity: self.items.append(x)
//   self.items[self.at % self.capacity] = x    features = features[-window:]
//   items = [None] * capacity                  task = TASKS[turn % 8] … items[task] = x
//   self.used += x.nbytes … while self.used > self.budget: self.items.popitem()
//   if (step + 1) % 40 == 0: self.items.clear()
//
// The text of the source says what the length is compared with, and the census which number that
// was, if the file does not. A line that is never reached is taken for a bound, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/judge/verdicts/program/program_text.h"
#include "analyzer/judge/verdicts/verdict.h"

namespace memtrace::verdicts {

struct bounded_container {
  std::string_view variable;     // memory.items
  std::uint64_t length = 0;      // elements; 0: not known
  std::uint64_t blocks = 0;      // of memory that it holds
  std::string_view numbers;      // beside it, as the census has written them
  std::uint64_t steps = 0;       // in which it has not been emptied; 0: not known
  bool gets_longer = false;      // from census to census
  bool in_elements = false;      // it is the containers in it that get longer, of `length` each
  bool has_elements = false;     // there are containers in it
  bool is_that = false;          // known: it is this that grows, not what it is in
  std::string_view holder = {};  // the class of the object that has it; empty: not known
};

// By a file's program. None: no line bounds it, or it is full and grows still.
[[nodiscard]] std::optional<shown_bound> bound_in(const program_text& program,
                                                  const bounded_container& what);

}  // namespace memtrace::verdicts
