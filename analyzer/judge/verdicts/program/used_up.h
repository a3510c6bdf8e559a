// SPDX-License-Identifier: Apache-2.0
//
// Whether what a program puts into a container comes from something that comes to an end:
//
//   chunk = next(unread, None) … if chunk is not None: index.add(chunk)
//   if len(self.waiting) == 0: return … self.made.append(x)
//   self.images.append(self.unlabelled.pop(place))      nothing is put into `unlabelled`
//   if self.unlabelled: self.acquire()                  which appends, and takes one out
//   granted = min(wanted, self.total - self.spent) … if granted: pool.label(granted)
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analyzer/judge/verdicts/program/bound_effect.h"
#include "analyzer/judge/verdicts/program/program_text.h"

namespace memtrace::verdicts {

// The line that says so, where each one that puts something in depends on such a one.
[[nodiscard]] std::optional<std::size_t> line_that_runs_out(const program_text& program,
                                                            const bound_effect& container,
                                                            const std::string& name);

}  // namespace memtrace::verdicts
