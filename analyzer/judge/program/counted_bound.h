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

#include "analyzer/judge/program/bound_effect.h"
#include "analyzer/judge/program/program_numbers.h"
#include "analyzer/judge/program/program_text.h"

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

// A comparison under which that line, from 0, is reached, with the highest that a count may be:
//
//   if iteration < settings.densify_until: points.densify()
//   task = min(step // 6, TASKS - 1) … if task != self.task: self.begin(task)
//
// Not one that ends the run itself, nor one that the run has passed: it has grown in `births` of
// its `steps`. `known`: whether the number is.
struct counted_guard {
  counted_limit limit;
  bool known = false;
};
[[nodiscard]] std::optional<counted_guard> guard_of(const program_text& program,
                                                    const program_numbers& numbers,
                                                    const bound_effect& container, std::size_t line,
                                                    std::uint64_t steps, std::uint64_t births);

}  // namespace memtrace::verdicts
