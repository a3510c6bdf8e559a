// SPDX-License-Identifier: Apache-2.0
//
// Holds a run against its limits. What of a trace is missing may have held more memory: a limit
// that is broken without it is broken, and any other cannot be told.
#pragma once

#include <string>
#include <vector>

#include "analyzer/run/check/findings.h"

namespace memtrace::check {

// Keeps references to the run. Nothing: no device of the run had memory of PyTorch's.
[[nodiscard]] std::vector<finding> judge(const run::run_report& processes, const limits& wanted);

// PyTorch, or the program by itself, had memory on it.
[[nodiscard]] bool is_used(const run::device_report& device);

// Why the run may have been other than its trace: "the trace is cut off"; empty: it was not.
[[nodiscard]] std::string what_is_missing(const run::process_report& process);

}  // namespace memtrace::check
