// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/judge/verdicts/verdict.h"

namespace memtrace::verdicts {

// device:0, category:activations, site:17 …, as the report's JSON names subjects.
[[nodiscard]] std::string name_of(const subject& about);

// A sentence that says what was found, without the place.
[[nodiscard]] std::string summary_of(const verdict& given);
// Of each that has none yet.
void summarize(findings& found);

}  // namespace memtrace::verdicts
