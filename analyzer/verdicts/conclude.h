// SPDX-License-Identifier: Apache-2.0
//
// From what was collected to verdicts.
#pragma once

#include <string>

#include "analyzer/replay/replay.h"
#include "analyzer/trace/dictionary.h"
#include "analyzer/verdicts/collector.h"
#include "analyzer/verdicts/verdict.h"

namespace memtrace::verdicts {

// `unit`: what the steps are. Each device has a verdict; other subjects where they grow.
[[nodiscard]] findings conclude(const collector& collected, const replay::replayer& replayed,
                                const trace::dictionary& names, const std::string& unit = "step");

}  // namespace memtrace::verdicts
