// SPDX-License-Identifier: Apache-2.0
//
// The lines of the program behind some events of a trace, from one more pass over it.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "analyzer/report/replay_runs.h"
#include "analyzer/trace/reader.h"

namespace memtrace::report {

[[nodiscard]] std::map<std::uint64_t, replay_place> find_places(
    trace::reader reader, const std::set<std::uint64_t>& events);

}  // namespace memtrace::report
