// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/report/json_memory.h"
#include "analyzer/report/ranks.h"

namespace memtrace::report {

// ranks, rank_differences, shared_memory and missing_ranks of the document.
void add_ranks_json(const ranks_found& found, json& document);

}  // namespace memtrace::report
