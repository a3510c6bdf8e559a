// SPDX-License-Identifier: Apache-2.0
//
// What to change, as JSON: the changes of a run in their order, and what they save together.
#pragma once

#include "analyzer/show/json/memory.h"

namespace memtrace::as_json {

// Of all processes: see run/changes.h.
[[nodiscard]] json advice_json(const run::run_report& processes);
// What the pieces save together, by device.
[[nodiscard]] json combined_advice_json(const run::run_report& processes);
// What was not looked at, and why.
[[nodiscard]] json advice_limits_json(const run::run_report& processes);

}  // namespace memtrace::as_json
