// SPDX-License-Identifier: Apache-2.0
//
// Which of the containers that keep what grows are bounded by a line of the program
// (verdicts/shown_bound.h), where its source is readable.
#pragma once

#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::remedies {

// Fills `bound` of what keeps the culprits that leak, or `may_end`, and what else their lines say
// of it.
void find_bounds(verdicts::findings& found, const trace::dictionary& names);

}  // namespace memtrace::remedies
