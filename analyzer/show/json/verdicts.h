// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/show/json/memory.h"

namespace memtrace::as_json {

// What grows and what does not, appended to the array of the document.
void add_verdicts_json(const run::process_report& process, json& verdicts);

}  // namespace memtrace::as_json
