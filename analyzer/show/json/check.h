// SPDX-License-Identifier: Apache-2.0
//
// What memtrace check --json writes; check.schema.json describes it.
#pragma once

#include <string>
#include <vector>

#include "analyzer/run/check/findings.h"
#include "analyzer/run/check/limits.h"

namespace memtrace::as_json {

struct checked_run {
  std::vector<std::string> traces, baseline;  // paths
  check::limits wanted;
  std::vector<check::finding> findings;
};

[[nodiscard]] std::string to_json(const checked_run& run);

}  // namespace memtrace::as_json
