// SPDX-License-Identifier: Apache-2.0
//
// Where a program counts something else than a container's length (steps, bytes, money), and adds
// to it, or takes out of it, as that says:
//
//   self.used += x.nbytes … while self.used > self.budget: self.items.popitem()
//   if step < 30: cached.append(rows)
//   if epoch == 0: cached.append(rows)
//   while self.money >= price: self.money -= price; self.labels.append(x)
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/verdicts/program/bound_effect.h"
#include "analyzer/verdicts/program/program_numbers.h"
#include "analyzer/verdicts/program/program_text.h"

namespace memtrace::verdicts {

struct counted_limit {
  std::string said_by;
  std::size_t line = 0;
};

// `steps`: in which it has grown; `length`: its elements; 0: not known.
[[nodiscard]] std::optional<counted_limit> counted_bound(const program_text& program,
                                                         const program_numbers& numbers,
                                                         const bound_effect& container,
                                                         std::uint64_t steps, std::uint64_t length);

}  // namespace memtrace::verdicts
