// SPDX-License-Identifier: Apache-2.0
//
// Functions that give back what is short as it is, and a part of what is long:
//
//   if length <= self.most: return past … return [drop(one) for one in past]
//   if length > self.most: past = self.drop(past) … return past
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/judge/verdicts/program/program_text.h"

namespace memtrace::verdicts {

// Of a statement that gives the container what such a function makes of it: past = cache(past). The
// line in which the function asks.
[[nodiscard]] std::optional<std::size_t> line_that_trims(const program_text& program,
                                                         const std::string& container,
                                                         const std::string& statement);

// The same where a function hands on what it has made under a name of its own: return logits,
// self.sinks(made). `lines`: of the calls that lead to an allocation, from 1.
[[nodiscard]] std::optional<std::size_t> trimmed_on_the_way(
    const program_text& program, const std::vector<std::uint32_t>& lines);

}  // namespace memtrace::verdicts
