// SPDX-License-Identifier: Apache-2.0
//
// Stream capture of the runtime API.
#include <cuda_runtime_api.h>

#include "simulator/core/capture.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"

using namespace memtrace::simulator;

namespace {

// False if one of them is no node.
bool nodes_of(const cudaGraphNode_t* handles, std::size_t count, std::vector<graph_node*>& nodes) {
  if (count > 0 && !handles) return false;
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back(graphs::find(handles[i]));
    if (!nodes.back()) return false;
  }
  return true;
}

cudaError_t begin(cudaStream_t handle, cudaStreamCaptureMode mode, graph* into,
                  std::vector<graph_node*> after) {
  stream* const found = streams::find(handle);
  if (!found) return cudaErrorInvalidResourceHandle;
  return capture::begin(*found, mode, into, std::move(after));
}

cudaError_t update(cudaStream_t handle, const cudaGraphNode_t* handles, std::size_t count,
                   unsigned flags) {
  stream* const found = streams::find(handle);
  if (!found) return cudaErrorInvalidResourceHandle;
  std::vector<graph_node*> nodes;
  if (flags > cudaStreamSetCaptureDependencies || !nodes_of(handles, count, nodes)) {
    return cudaErrorInvalidValue;
  }
  return capture::update_dependencies(*found, nodes, flags == cudaStreamSetCaptureDependencies);
}

}  // namespace

MEMTRACE_API cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return remember(begin(handle, mode, nullptr, {}));
}

MEMTRACE_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph,
                                                       const cudaGraphNode_t* dependencies,
                                                       const cudaGraphEdgeData*, std::size_t count,
                                                       cudaStreamCaptureMode mode) {
  auto* const into = graphs::find(graph);
  std::vector<graph_node*> after;
  if (!into || !nodes_of(dependencies, count, after)) return remember(cudaErrorInvalidValue);
  return remember(begin(handle, mode, into, std::move(after)));
}

MEMTRACE_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* result) {
  stream* const found = streams::find(handle);
  if (!found) return remember(cudaErrorInvalidResourceHandle);
  if (!result) return remember(cudaErrorInvalidValue);
  graph* captured = nullptr;
  const cudaError_t error = capture::end(*found, captured);
  *result = graphs::handle(captured);
  return remember(error);
}

MEMTRACE_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return remember(mode ? capture::exchange_mode(*mode) : cudaErrorInvalidValue);
}

#if CUDART_VERSION >= 13000
MEMTRACE_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle,
                                                             cudaGraphNode_t* nodes,
                                                             const cudaGraphEdgeData*,
                                                             std::size_t count, unsigned flags) {
  return remember(update(handle, nodes, count, flags));
}
#else
MEMTRACE_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle,
                                                             cudaGraphNode_t* nodes,
                                                             std::size_t count, unsigned flags) {
  return remember(update(handle, nodes, count, flags));
}

MEMTRACE_API cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t handle,
                                                                cudaGraphNode_t* nodes,
                                                                const cudaGraphEdgeData*,
                                                                std::size_t count, unsigned flags) {
  return remember(update(handle, nodes, count, flags));
}
#endif
