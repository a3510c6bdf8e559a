// SPDX-License-Identifier: Apache-2.0
//
// The one ranked list of what to change:
//
//   pieces of advice (proved by replay) ─┐
//   remedies of verdicts, by cause      ─┼─► changes_of a process ─► ranked, of the whole run
//   habits that no piece tells of       ─┘
//
// The same cause seen by device, category and site is one change. What supersedes what is said by
// the pieces and habits themselves (proposal::group, proposal::tells_of).
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/run/model/model.h"

namespace memtrace::run {

// Those of one report, which is complete but for them: the best first.
[[nodiscard]] std::vector<change> changes_of(const process_report& process);

// Those of all processes, the best first. They live as long as the report.
[[nodiscard]] std::vector<const change*> ranked(const run_report& processes);

}  // namespace memtrace::run
