// SPDX-License-Identifier: Apache-2.0
//
// How a step makes a variable: anew, of itself, or trimmed on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/judge/program/program_text.h"

namespace memtrace::verdicts {

// Functions that give back what is short as it is, and a part of what is long:
//
//   if length <= self.most: return past … return [drop(one) for one in past]
//   if length > self.most: past = self.drop(past) … return past

// Of a statement that gives the container what such a function makes of it: past = cache(past). The
// line in which the function asks.
[[nodiscard]] std::optional<std::size_t> line_that_trims(const program_text& program,
                                                         const std::string& container,
                                                         const std::string& statement);

// The same where a function hands on what it has made under a name of its own: return logits,
// self.sinks(made). `lines`: of the calls that lead to an allocation, from 1.
[[nodiscard]] std::optional<std::size_t> trimmed_on_the_way(
    const program_text& program, const std::vector<std::uint32_t>& lines);

// Whether a variable gets something new in each step, that does not depend on what it had before:
//
//   answers = [net(crop) for crop in crops]      it does: what grows is the work of a step
//   bank = torch.cat([bank, keys])               it does not
//   merged = torch.cat([bank, keys]); bank = merged    nor here, by a detour
//   batch = torch.stack(examples)                nor here, where `examples.append(…)` goes on

[[nodiscard]] bool is_reallocated(const program_text& program, const std::string& variable);

// Whether what a step gives it is made of what it was before: states = [0.9 * s for s in states].
[[nodiscard]] bool is_made_of_itself(const program_text& program, const std::string& variable);

}  // namespace memtrace::verdicts
