// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/report/json_memory.h"
#include "analyzer/report/model.h"

namespace memtrace::report {

// Appends what is known of each device of the process.
void add_fragmentation_json(const process_report& process, json& all);

// Of the run's pinned host memory.
[[nodiscard]] json pinned_json(const run_report& processes);

}  // namespace memtrace::report
