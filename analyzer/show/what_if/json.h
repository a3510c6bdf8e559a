// SPDX-License-Identifier: Apache-2.0
//
// What `memtrace replay --json` writes: see replay.schema.json.
#pragma once

#include <string>
#include <vector>

#include "analyzer/show/what_if/runs.h"

namespace memtrace::what_if {

[[nodiscard]] std::string to_json(const std::vector<replayed_process>& processes);

}  // namespace memtrace::what_if
