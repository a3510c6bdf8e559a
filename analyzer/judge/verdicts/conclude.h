// SPDX-License-Identifier: Apache-2.0
//
// From what was collected to verdicts.
#pragma once

#include <string>

#include "analyzer/judge/verdicts/collector.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/model/replay/replay.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::verdicts {

// `unit`: what the steps are. Each device has a verdict; other subjects where they grow.
[[nodiscard]] findings conclude(const collector& collected, const replay::replayer& replayed,
                                const trace::dictionary& names, const std::string& unit = "step");

}  // namespace memtrace::verdicts
