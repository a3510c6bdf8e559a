// SPDX-License-Identifier: Apache-2.0
//
// Signs in a program that what it gathers comes to an end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/program/bound_effect.h"
#include "analyzer/judge/program/program_text.h"

namespace memtrace::verdicts {

// A table that is as large as the largest that was asked for, and reallocated, or made longer, for
// that alone:
//
//   if length > self.longest: self._make_table(length)       self.longest = length … self.cos = …
//   if self.cos is None or length > self.cos.shape[0]: self.cos = angles(length).cos()
//   if length <= self.longest: return self.cos[:length]      … self.cos = …

// The line of the program that asks. None: it is given something elsewhere, too.
[[nodiscard]] std::optional<std::size_t> line_for_larger_only(const program_text& program,
                                                              const std::string& name);

// A number beside a container that is called a capacity, however the program holds to it:
//
//   capacity=480, max_size=64, replay_limit=1000, buffer_size=256
//   n_estimators=5 of `estimators_`
//
// Where a function of the program has both, and the container is not that long yet.

struct named_limit {
  std::string number;    // "capacity=480"
  std::size_t line = 0;  // of the program, that names it in a function with the container
};

// `numbers`: as the heap scan has written them. `reached`: what it must be more than.
[[nodiscard]] std::optional<named_limit> limit_beside(const program_text& program,
                                                      const std::string& container,
                                                      std::string_view numbers,
                                                      std::uint64_t reached);

// "capacity", "MAX_ITEMS", "replay_limit"; not "limits" of something else, as "max_length".
[[nodiscard]] bool names_a_capacity(std::string_view name);

// Whether what a program puts into a container comes from something that comes to an end:
//
//   chunk = next(unread, None) … if chunk is not None: index.add(chunk)
//   if len(self.waiting) == 0: return … self.made.append(x)
//   self.images.append(self.unlabelled.pop(place))      nothing is put into `unlabelled`
//   if self.unlabelled: self.acquire()                  which appends, and takes one out
//   granted = min(wanted, self.total - self.spent) … if granted: pool.label(granted)

// The line that says so, where each one that puts something in depends on such a one.
[[nodiscard]] std::optional<std::size_t> line_that_runs_out(const program_text& program,
                                                            const bound_effect& container,
                                                            const std::string& name);

// Whether the run goes through a container once, from its first element to its last:
//
//   for batch in batches(sentences): embed(batch)        each sentence gets what it keeps here
//   for model in models: explain(model)
//
// Its elements are the work of the run, then, not a number of places that fill and are used again.

// `lines`: of the calls that lead to an allocation, from 1, the innermost first.
[[nodiscard]] bool is_gone_through_once(const program_text& program, const std::string& container,
                                        const std::vector<std::uint32_t>& lines);

}  // namespace memtrace::verdicts
