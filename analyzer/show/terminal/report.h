// SPDX-License-Identifier: Apache-2.0
//
// The report for a person at a terminal: at most 36 lines, whatever the trace.
#pragma once

#include <string>

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/model.h"

namespace memtrace::terminal {

inline constexpr unsigned most_lines = 36;

// Several processes: the one that ran out of memory, else the one with the highest peak, in full,
// and the others in a line each as far as there is room.
[[nodiscard]] std::string to_text(const run::run_report& processes, const text::style& style);

}  // namespace memtrace::terminal
