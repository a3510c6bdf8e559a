// SPDX-License-Identifier: Apache-2.0
//
// Reads what prof.export_chrome_trace() writes, from its start to its end without ever holding it:
// of each event what memory needs, and nothing else. Other JSON is refused with what it is.
#pragma once

#include <cstdint>
#include <functional>

#include "analyzer/model/snapshot/profiler_contents.h"
#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/error.h"

namespace memtrace::snapshot {

// Errors: corrupt_snapshot, not_a_snapshot.
[[nodiscard]] trace::status read_profiler_trace(
    trace::byte_source& source, profiler_contents& to,
    const std::function<void(std::uint64_t, std::uint64_t)>& on_progress = {});

}  // namespace memtrace::snapshot
