// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/report/json_memory.h"
#include "analyzer/report/model.h"

namespace memtrace::report {

// Host memory of the whole run.
[[nodiscard]] json host_json(const run_report& processes);

}  // namespace memtrace::report
