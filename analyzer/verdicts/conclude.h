// SPDX-License-Identifier: Apache-2.0
//
// From what was collected to verdicts. Call sites decide whether memory accumulates; the device's
// own series says how it looks.
#pragma once

#include <string>

#include "analyzer/replay/replay.h"
#include "analyzer/verdicts/collector.h"
#include "analyzer/verdicts/verdict.h"

namespace memtrace::verdicts {

// `unit`: what the steps are. Each device has a verdict; other subjects where they grow.
[[nodiscard]] findings conclude(const collector& collected, const replay::replayer& replayed,
                                const std::string& unit = "step");

}  // namespace memtrace::verdicts
