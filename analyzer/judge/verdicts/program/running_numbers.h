// SPDX-License-Identifier: Apache-2.0
//
// Whether the keys under which a program puts things are new each time: the number of a step, a
// count that goes on, the identity of an object.
#pragma once

#include <string>

#include "analyzer/judge/verdicts/program/program_text.h"

namespace memtrace::verdicts {

// Of a line that puts something in under a key.
[[nodiscard]] bool puts_in_under_running_number(const program_text& program, std::size_t line,
                                                const std::string& container);

}  // namespace memtrace::verdicts
