// SPDX-License-Identifier: Apache-2.0
//
// Signs in a program's own lines that what it gathers may come to an end, where they do not say
// where (shown_bound.h), and a short run has not come to it:
//
//   if key not in self.made: self.made[key] = …     a key that has come again adds nothing; not
//                                                   where the key is the number of a step
//   if self.stale(x): self.items.remove(x)          not yet: nothing has gone so far
//   while len(self.items) > self.room(): …          of a length that the lines do not give
//   chunk = next(unread, None) … if chunk is not None: index.add(chunk)
//   self.images.append(self.unlabelled.pop(place))  nothing is put into `unlabelled`
//   capacity=480 beside it                          it is not that long (signs_of_end.h)
//
// None of them makes growth harmless: a run of few steps does not tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/judge/program/bounds.h"
#include "analyzer/judge/program/program_text.h"

namespace memtrace::verdicts {

// From so many steps on growth that has not come to its end is a leak, whatever the lines say.
inline constexpr std::uint64_t steps_that_tell = 100;

struct gathered {
  std::string_view variable;     // memory.items
  std::uint64_t length = 0;      // elements; 0: not known
  std::string_view numbers;      // beside it, as the heap scan has written them
  bool gets_longer = false;      // from heap scan to heap scan
  bool keys_come_again = false;  // by the steps in which it grew: some, and not at even distances
  bool in_elements = false;      // it is the containers in it that get longer
  bool has_elements = false;     // there are containers in it
  bool is_that = false;          // known: it is this that grows, not what it is in
  std::uint64_t steps = 0;       // of the run
  std::uint64_t blocks = 0;      // of memory that it holds
  char keys = 0;                 // 'i' numbers, 'k' known elsewhere, 'n' not; 0: not known, or none
  std::string_view holder = {};  // the class of the object that has it; empty: not known
};

// By a file's program. None: nothing says that it may end, or the run has shown that it does
// not.
[[nodiscard]] std::optional<open_end> may_end(const program_text& program, const gathered& what);

}  // namespace memtrace::verdicts
