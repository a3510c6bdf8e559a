// SPDX-License-Identifier: Apache-2.0
//
// A table that is as large as the largest that was asked for, and made anew, or made longer, for
// that alone:
//
//   if length > self.longest: self._make_table(length)       self.longest = length … self.cos = …
//   if self.cos is None or length > self.cos.shape[0]: self.cos = angles(length).cos()
//   if length <= self.longest: return self.cos[:length]      … self.cos = …
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analyzer/judge/verdicts/program/program_text.h"

namespace memtrace::verdicts {

// The line of the program that asks. None: it is given something elsewhere, too.
[[nodiscard]] std::optional<std::size_t> line_for_larger_only(const program_text& program,
                                                              const std::string& name);

}  // namespace memtrace::verdicts
