// SPDX-License-Identifier: Apache-2.0
//
// The lines of the program behind some events of a trace, from one more pass over it.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "analyzer/show/what_if/runs.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::what_if {

[[nodiscard]] std::map<std::uint64_t, replay_place> find_places(
    trace::reader reader, const std::set<std::uint64_t>& events);

}  // namespace memtrace::what_if
