// SPDX-License-Identifier: Apache-2.0
//
// From "these lines grow" to "this keeps it, write that instead".
#pragma once

#include "analyzer/judge/remedies/clues.h"
#include "analyzer/judge/verdicts/retention.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::remedies {

// Fills `retained_by` of every culprit from the censuses, takes growth that bounded containers hold
// for what it is, and gives leaks their remedy.
void explain(verdicts::findings& found, const verdicts::retention& kept,
             const trace::dictionary& names, const run_clues& run = {});

}  // namespace memtrace::remedies
