// SPDX-License-Identifier: Apache-2.0
//
// Writes down at a block what a record says about it.
#pragma once

#include "analyzer/model/attribution/block_life.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::attribution {

// `leaf`: for the roles that name a leaf tensor, the block it lives in; null where not known.
void annotate(block_life& block, const trace::storage_event& record, const block_life* leaf,
              const trace::dictionary& names);
void annotate(block_life& block, const trace::saved_event& record, const pass_counts& now);

// Whether `bytes` of such a record is the address of a leaf tensor.
[[nodiscard]] bool names_a_leaf(format::storage_role role);

}  // namespace memtrace::attribution
