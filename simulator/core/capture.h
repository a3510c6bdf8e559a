// SPDX-License-Identifier: Apache-2.0
//
// Stream capture: per stream, joined by events, with the error codes of the real API.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "simulator/core/graphs.h"
#include "simulator/core/streams.h"

namespace memtrace::simulator {

struct event;

namespace capture {

// Whether the stream is capturing (also when the capture has been invalidated).
[[nodiscard]] inline bool capturing(const stream& stream) {
  return stream.capture.load(std::memory_order_acquire) != nullptr;
}

// For calls that the documentation names potentially unsafe during a capture (cudaMalloc, cudaFree,
// cudaHostAlloc, cudaHostRegister …): cudaSuccess, or error 900 if a capture in this thread, or a
// global-mode capture in any thread, prohibits them; that capture is invalidated then, so that
// ending it is error 901. Costs one load while nothing is being captured.
[[nodiscard]] cudaError_t unsafe_call();

// For calls that wait for a whole device (cudaDeviceSynchronize, cudaDeviceReset): error 900 if any
// stream of the device is capturing, in any mode; invalidates like unsafe_call.
[[nodiscard]] cudaError_t device_wide_call(int device);

// For waiting for one stream or querying it: error 900 if it is capturing (901 if that capture is
// invalid already), else as unsafe_call.
[[nodiscard]] cudaError_t stream_wait_call(const stream& stream);

// Before work is given to a stream: error 906 if it is the legacy stream while a stream that
// synchronises with it is capturing, which invalidates that capture.
[[nodiscard]] cudaError_t check_use(const stream& stream);

// Swaps the calling thread's mode with `mode`, as cudaThreadExchangeStreamCaptureMode does.
[[nodiscard]] cudaError_t exchange_mode(cudaStreamCaptureMode& mode);

// Begins a capture into a new graph, or into `into` after the nodes `after`.
[[nodiscard]] cudaError_t begin(stream& stream, cudaStreamCaptureMode mode, graph* into = nullptr,
                                std::vector<graph_node*> after = {});
// Ends it. The graph is null unless the result is success.
[[nodiscard]] cudaError_t end(stream& stream, graph*& result);

// Adds a node after what the capturing stream holds. Error 901 if the capture is invalid.
[[nodiscard]] cudaError_t add(stream& stream, node_content content);
[[nodiscard]] cudaError_t add_kernel(stream& stream);

struct information {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  std::uint64_t id = 0;  // unique in the process, increasing
  graph* into = nullptr;
  const cudaGraphNode_t* dependencies = nullptr;  // valid until the next call on the stream
  std::size_t dependency_count = 0;
};
// Error 906 for the legacy stream while a stream that synchronises with it is capturing.
[[nodiscard]] cudaError_t inform(const stream& stream, information& result);

// Replaces what the next node depends on (`replace`), or adds to it.
[[nodiscard]] cudaError_t update_dependencies(stream& stream, const std::vector<graph_node*>& nodes,
                                              bool replace);

// Records the event in the capture of `stream`, which must be capturing.
[[nodiscard]] cudaError_t record(stream& stream, event& event);
// The stream joins the capture that the event was recorded in. Errors 901, 902, 905, 907.
[[nodiscard]] cudaError_t wait(stream& stream, const event& event);

// A query of, or a wait for, an event recorded in a capture: error 907, and that capture is
// invalidated if it is still going on.
[[nodiscard]] cudaError_t captured_event_used(const event& event);

void stream_destroyed(stream& stream);

}  // namespace capture
}  // namespace memtrace::simulator
