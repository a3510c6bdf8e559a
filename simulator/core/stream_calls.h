// SPDX-License-Identifier: Apache-2.0
//
// Calls on streams that the runtime and the driver share, with all their checks.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

#include "simulator/core/streams.h"

namespace memtrace::simulator::stream_calls {

[[nodiscard]] cudaError_t create(cudaStream_t* result, unsigned flags, int priority);
[[nodiscard]] cudaError_t synchronize(cudaStream_t handle);
[[nodiscard]] cudaError_t query(cudaStream_t handle);

// The answer of `answer` about the stream.
template <typename Value>
[[nodiscard]] cudaError_t ask(cudaStream_t handle, Value* result, Value (*answer)(const stream&)) {
  const stream* const found = streams::find(handle);
  if (!found) return cudaErrorInvalidResourceHandle;
  if (!result) return cudaErrorInvalidValue;
  *result = answer(*found);
  return cudaSuccess;
}

// Calls back at once: all work is done as soon as it is given. Error 900 in a capture.
[[nodiscard]] cudaError_t callback(cudaStream_t handle,
                                   const std::function<void(cudaStream_t)>& function);

// Every pointer but `status` may be null.
[[nodiscard]] cudaError_t capture_info(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                       unsigned long long* id, cudaGraph_t* graph,
                                       const cudaGraphNode_t** dependencies,
                                       const cudaGraphEdgeData** edges, std::size_t* count);

[[nodiscard]] cudaError_t begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode);
[[nodiscard]] cudaError_t begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode,
                                        cudaGraph_t into, const cudaGraphNode_t* after,
                                        std::size_t count);
[[nodiscard]] cudaError_t end_capture(cudaStream_t handle, cudaGraph_t* result);
[[nodiscard]] cudaError_t update_capture(cudaStream_t handle, const cudaGraphNode_t* nodes,
                                         std::size_t count, unsigned flags);

}  // namespace memtrace::simulator::stream_calls
