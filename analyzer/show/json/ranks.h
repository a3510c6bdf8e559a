// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/run/ranks/find_ranks.h"
#include "analyzer/show/json/memory.h"

namespace memtrace::as_json {

// ranks, rank_differences, shared_memory and missing_ranks of the document.
void add_ranks_json(const ranks::ranks_found& found, json& document);

}  // namespace memtrace::as_json
