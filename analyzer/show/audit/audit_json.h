// SPDX-License-Identifier: Apache-2.0
//
// Audits as JSON, by audit.schema.json beside this file.
#pragma once

#include <string>
#include <vector>

#include "analyzer/show/audit/audit.h"

namespace memtrace::audit {

// With a newline at the end.
[[nodiscard]] std::string to_json(const std::vector<trace_audit>& traces);

}  // namespace memtrace::audit
