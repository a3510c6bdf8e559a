// SPDX-License-Identifier: Apache-2.0
//
// Two runs side by side for a person at a terminal: one picture, then what changed.
#pragma once

#include <string>

#include "analyzer/report/diff.h"
#include "analyzer/report/terminal.h"

namespace memtrace::report {

[[nodiscard]] std::string to_text(const run_difference& runs, const terminal_style& style);

}  // namespace memtrace::report
