// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/json/memory.h"
#include "analyzer/run/model.h"

namespace memtrace::as_json {

// Host memory of the whole run.
[[nodiscard]] json host_json(const run::run_report& processes);

}  // namespace memtrace::as_json
