// SPDX-License-Identifier: Apache-2.0
//
// What the report says of a snapshot of PyTorch's, or a trace of its profiler, that stands for a
// recording.
#pragma once

#include <string>
#include <vector>

#include "analyzer/run/model/model.h"

namespace memtrace::terminal {

// At the top, in a line or two: what it is, and where its history begins. Nothing of a recording.
[[nodiscard]] std::vector<std::string> what_a_snapshot_is(const run::process_report& process);

// Behind the number of events: whether they lead to the segments that it lists.
[[nodiscard]] const char* how_a_snapshot_ends(const run::snapshot_facts& snapshot);

// At the end, in a sentence each.
[[nodiscard]] std::vector<std::string> what_a_snapshot_lacks(const run::snapshot_facts& snapshot);

}  // namespace memtrace::terminal
