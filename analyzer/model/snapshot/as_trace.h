// SPDX-License-Identifier: Apache-2.0
//
// A snapshot of PyTorch's (torch.cuda.memory._dump_snapshot), or a trace of its profiler with
// memory events, as the trace that says the same, so that every command reads it like a recording:
//
//   pickle ─► pickle_reader ─► contents, event_log ─► start_of_history   what was there before
//                                                  └─► as_trace          records, by time
//   JSON ───► profiler_reader ─► profiler_contents ─► profiler_maker     records, by time
//
// The facts that a snapshot gives of the recording are in info records (info_key::source and
// snapshot_*), for reports; what it lacks is absent. Times are those of PyTorch, or the number of
// the event in versions that give none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "analyzer/model/snapshot/spill_file.h"
#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/error.h"

namespace memtrace::snapshot {

// The first bytes are those of a pickle, of JSON, or of what such files come packed in: no trace.
[[nodiscard]] bool is_one(trace::byte_source& source);

// Errors: corrupt_snapshot, not_a_snapshot, io_error.
[[nodiscard]] trace::result<std::unique_ptr<spill_file>> as_trace(
    trace::byte_source& source,
    const std::function<void(std::uint64_t, std::uint64_t)>& on_progress = {});

}  // namespace memtrace::snapshot
