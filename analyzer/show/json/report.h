// SPDX-License-Identifier: Apache-2.0
//
// The report as JSON, by report.schema.json beside this file.
#pragma once

#include <string>

#include "analyzer/run/model/model.h"

namespace memtrace::as_json {

// With a newline at the end. Several processes are one run: `run` is the first's, and devices and
// ooms carry the pid they belong to. `with_blocks`: every block of the moments that are shown.
[[nodiscard]] std::string to_json(const run::run_report& processes, bool with_blocks = false);

}  // namespace memtrace::as_json
