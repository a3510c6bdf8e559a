// SPDX-License-Identifier: Apache-2.0
//
// What to change, as JSON: the remedies of what grows, and habits that cost and do not help.
#pragma once

#include "analyzer/report/json_memory.h"

namespace memtrace::report {

// One for each cause; the same cause seen by device, category and site is one.
void add_advice_json(const process_report& process, json& advice);

}  // namespace memtrace::report
