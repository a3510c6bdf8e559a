// SPDX-License-Identifier: Apache-2.0
//
// Two runs side by side as JSON, by diff.schema.json beside this file.
#pragma once

#include <string>

#include "analyzer/show/diff/diff.h"

namespace memtrace::diff {

[[nodiscard]] std::string to_json(const run_difference& runs);  // with a newline at the end

}  // namespace memtrace::diff
