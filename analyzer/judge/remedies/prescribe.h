// SPDX-License-Identifier: Apache-2.0
//
// What to write instead, for each cause of growth that was found.
#pragma once

#include "analyzer/judge/remedies/clues.h"

namespace memtrace::remedies {

// The first kind of cause whose evidence is there; empty where nothing supports an advice.
[[nodiscard]] std::optional<verdicts::remedy> remedy_for(const clues& of);

// Of all verdicts that say memory grows: culprits that are kept somewhere get their remedy, and so
// do verdicts without culprits.
void prescribe(verdicts::findings& found, const trace::dictionary& names, const run_clues& run);

}  // namespace memtrace::remedies
