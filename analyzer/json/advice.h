// SPDX-License-Identifier: Apache-2.0
//
// What to change, as JSON: pieces of advice that were proved, the remedies of what grows, and
// habits that cost and do not help, in the order of what they save.
#pragma once

#include "analyzer/json/memory.h"

namespace memtrace::as_json {

// Of all processes; of remedies one for each cause: the same cause seen by device, category and
// site is one.
[[nodiscard]] json advice_json(const run::run_report& processes);
// What the pieces save together, by device.
[[nodiscard]] json combined_advice_json(const run::run_report& processes);
// What was not looked at, and why.
[[nodiscard]] json advice_limits_json(const run::run_report& processes);

}  // namespace memtrace::as_json
