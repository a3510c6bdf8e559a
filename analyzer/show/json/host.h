// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/run/model/model.h"
#include "analyzer/show/json/memory.h"

namespace memtrace::as_json {

// Host memory of the whole run.
[[nodiscard]] json host_json(const run::run_report& processes);

}  // namespace memtrace::as_json
