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
// The text of the source says what the length is compared with, and the heap scan which number that
// was, if the file does not. A line that is never reached is taken for a bound, too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/judge/program/bound_effect.h"
#include "analyzer/judge/program/bounds.h"
#include "analyzer/judge/program/program_numbers.h"
#include "analyzer/judge/program/program_text.h"

namespace memtrace::verdicts {

// Where a program leaves a container with nothing, but has not come to that yet:
//
//   if (step + 1) % 40 == 0: outputs.clear()         a run of 18 steps
//   if self.length == LONGEST: self.begin()          begin() says self.past = None
//   for epoch in …: outputs = []                     in its first round: outputs.append(x) is in a
//                                                    loop within that loop
//
// A function that nothing calls empties nothing, nor does `__init__`; nor do conditions whose time
// would have come, or of which nobody knows when they hold.

struct emptying {
  std::uint64_t steps = 0;  // after so many; 0: not known
  std::string said_by;
  std::size_t line = 0;
};

// `steps`: in which it has not been emptied, `length`: what it holds; 0: not known.
[[nodiscard]] std::optional<emptying> emptied_later(const program_text& program,
                                                    const program_numbers& numbers,
                                                    const bound_effect& container,
                                                    std::uint64_t steps, std::uint64_t length);

struct bounded_container {
  std::string_view variable;     // memory.items
  std::uint64_t length = 0;      // elements; 0: not known
  std::uint64_t blocks = 0;      // of memory that it holds
  std::string_view numbers;      // beside it, as the heap scan has written them
  std::uint64_t steps = 0;       // in which it has not been emptied; 0: not known
  bool gets_longer = false;      // from heap scan to heap scan
  bool in_elements = false;      // it is the containers in it that get longer, of `length` each
  bool has_elements = false;     // there are containers in it
  bool is_that = false;          // known: it is this that grows, not what it is in
  std::string_view holder = {};  // the class of the object that has it; empty: not known
};

// By a file's program. None: no line bounds it, or it is full and grows still.
[[nodiscard]] std::optional<shown_bound> bound_in(const program_text& program,
                                                  const bounded_container& what);

}  // namespace memtrace::verdicts
