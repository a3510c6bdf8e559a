// SPDX-License-Identifier: Apache-2.0
//
// The figures of two runs in a table.
#pragma once

#include <string>
#include <vector>

#include "analyzer/show/diff/diff.h"

namespace memtrace::diff {

struct summary_row {
  std::string name;
  std::string before, after, change;
  bool alarm = false;
};

[[nodiscard]] std::vector<summary_row> summary_rows(const device_pair& pair);

// "ended by itself", "ran out of memory", "was killed, or is still running"
[[nodiscard]] std::string how_it_ended(const run::run_report& run);

}  // namespace memtrace::diff
