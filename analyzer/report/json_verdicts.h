// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/report/json_memory.h"

namespace memtrace::report {

// What grows and what does not, appended to the array of the document.
void add_verdicts_json(const process_report& process, json& verdicts);

}  // namespace memtrace::report
