// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/run/model/model.h"
#include "analyzer/show/json/memory.h"

namespace memtrace::as_json {

// Appends what is known of each device of the process.
void add_fragmentation_json(const run::process_report& process, json& all);

// Of the run's pinned host memory.
[[nodiscard]] json pinned_json(const run::run_report& processes);

}  // namespace memtrace::as_json
