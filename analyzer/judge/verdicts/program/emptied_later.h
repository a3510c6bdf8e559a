// SPDX-License-Identifier: Apache-2.0
//
// Where a program leaves a container with nothing, but has not come to that yet:
//
//   if (step + 1) % 40 == 0: outputs.clear()         a run of 18 steps
//   if self.length == LONGEST: self.begin()          begin() says self.past = None
//   for epoch in …: outputs = []                     in its first round: outputs.append(x) is in a
//                                                    loop within that loop
//
// A function that nothing calls empties nothing, nor does `__init__`; nor do conditions whose time
// would have come, or of which nobody knows when they hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/judge/verdicts/program/bound_effect.h"
#include "analyzer/judge/verdicts/program/program_numbers.h"
#include "analyzer/judge/verdicts/program/program_text.h"

namespace memtrace::verdicts {

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

}  // namespace memtrace::verdicts
