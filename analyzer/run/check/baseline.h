// SPDX-License-Identifier: Apache-2.0
//
// A run beside an earlier one of the same program.
#pragma once

#include <string>

#include "analyzer/run/check/findings.h"
#include "analyzer/run/check/sizes.h"

namespace memtrace::check {

struct baseline {
  const run::process_report* process = nullptr;
  const run::device_report* device = nullptr;  // null: it has none to compare with
  std::string why_not;
};

// Processes go by their rank; those that say none can be told apart only where each run has one.
[[nodiscard]] baseline find_baseline(const run::run_report& before, const run::run_report& now,
                                     const run::process_report& process,
                                     const run::device_report& device);

using peak_of = measured_peak (*)(const run::process_report&, const run::device_report&);

void compare(const baseline& before, peak_of take, const run::process_report& process,
             const run::device_report& device, const tolerance& allowed, finding& to);

}  // namespace memtrace::check
