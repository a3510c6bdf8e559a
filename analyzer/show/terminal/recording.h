// SPDX-License-Identifier: Apache-2.0
//
// How it was recorded, as far as it is why something is not in the report.
#pragma once

#include <string>
#include <vector>

#include "analyzer/run/model/model.h"
#include "memtrace/capabilities.h"

namespace memtrace::terminal {

// In a sentence each: what could not be recorded in that program, and what a fuller mode would have
// told. Nothing for older traces.
[[nodiscard]] std::vector<std::string> recording_notes(const run::process_report& process);

// The mode had it off: recording_notes says so.
[[nodiscard]] bool is_off_by_mode(const run::run_facts& run, capability which);

}  // namespace memtrace::terminal
