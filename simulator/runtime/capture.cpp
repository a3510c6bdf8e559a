// SPDX-License-Identifier: Apache-2.0
//
// Stream capture of the runtime API.
#include <cuda_runtime_api.h>

#include "simulator/core/capture.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/stream_calls.h"

using namespace memtrace::simulator;

MEMTRACE_API cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return remember(stream_calls::begin_capture(handle, mode));
}

MEMTRACE_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph,
                                                       const cudaGraphNode_t* after,
                                                       const cudaGraphEdgeData*, std::size_t count,
                                                       cudaStreamCaptureMode mode) {
  return remember(stream_calls::begin_capture(handle, mode, graph, after, count));
}

MEMTRACE_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* result) {
  return remember(stream_calls::end_capture(handle, result));
}

MEMTRACE_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return remember(mode ? capture::exchange_mode(*mode) : cudaErrorInvalidValue);
}

#if CUDART_VERSION >= 13000
MEMTRACE_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle,
                                                             cudaGraphNode_t* nodes,
                                                             const cudaGraphEdgeData*,
                                                             std::size_t count, unsigned flags) {
  return remember(stream_calls::update_capture(handle, nodes, count, flags));
}
#else
MEMTRACE_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle,
                                                             cudaGraphNode_t* nodes,
                                                             std::size_t count, unsigned flags) {
  return remember(stream_calls::update_capture(handle, nodes, count, flags));
}

MEMTRACE_API cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t handle,
                                                                cudaGraphNode_t* nodes,
                                                                const cudaGraphEdgeData*,
                                                                std::size_t count, unsigned flags) {
  return remember(stream_calls::update_capture(handle, nodes, count, flags));
}
#endif
