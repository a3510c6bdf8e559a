// SPDX-License-Identifier: Apache-2.0
//
// The documents of a run: its report, by report.schema.json beside this file, and its check. They
// are made once, and printed once, as the last step (written).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/run/check/findings.h"
#include "analyzer/run/check/limits.h"
#include "analyzer/run/model/model.h"
#include "analyzer/show/json/values.h"

namespace memtrace::as_json {

// Several processes are one run: `run` is the first's, and devices and ooms carry the pid they
// belong to. `with_blocks`: every block of the moments that are shown.
[[nodiscard]] json to_json(const run::run_report& processes, bool with_blocks = false);

// A run and what was asked of it: memtrace check --json, by check.schema.json.
struct checked_run {
  std::vector<std::string> traces, baseline;  // paths
  std::string headline;                       // of the run that is checked
  check::limits wanted;
  std::vector<check::finding> findings;
};

[[nodiscard]] json to_json(const checked_run& run);
// What does not hold, as SARIF 2.1.0: code scanning of GitHub and GitLab shows it at its line. Files
// below `folder` are named relative to it.
[[nodiscard]] json to_sarif(const checked_run& run, std::string_view folder);

}  // namespace memtrace::as_json
