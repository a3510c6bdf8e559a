// SPDX-License-Identifier: Apache-2.0
//
// Whether a stream-ordered call becomes a node of a graph, because its stream is capturing: then it
// allocates when the graph runs, not now.
#pragma once

#include <cstdint>
#include <optional>

#include "interpose/ground/loader/hook_table.h"

namespace memtrace::stream_capture {

// The name under which a captured call is recorded (memtrace/cuda_calls.h); null for other calls
// than those that can be captured.
[[nodiscard]] const char* captured_name(hook_id id) noexcept;

// The graph that the stream of such a call is being captured into; nothing if it is not.
[[nodiscard]] std::optional<std::uint64_t> graph_of(hook_id id, void* stream) noexcept;

}  // namespace memtrace::stream_capture
