// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/stream_calls.h"

#include "simulator/core/capture.h"
#include "simulator/core/device.h"
#include "simulator/core/pools.h"

namespace memtrace::simulator::stream_calls {
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

}  // namespace

cudaError_t create(cudaStream_t* result, unsigned flags, int priority) {
  if (!result) return cudaErrorInvalidValue;
  if (const cudaError_t error = ensure_context(); error != cudaSuccess) return error;
  return streams::create(current_device(), flags, priority, *result);
}

cudaError_t synchronize(cudaStream_t handle) {
  stream* const found = streams::find(handle);
  if (!found) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = capture::stream_wait_call(*found); error != cudaSuccess) {
    return error;
  }
  streams::synchronize(*found);
  pools::synchronized(found->device);
  return cudaSuccess;
}

cudaError_t query(cudaStream_t handle) {
  const stream* const found = streams::find(handle);
  if (!found) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = capture::stream_wait_call(*found); error != cudaSuccess) {
    return error;
  }
  return clock::poll(streams::completion(*found)) ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t callback(cudaStream_t handle, const std::function<void(cudaStream_t)>& function) {
  stream* const found = streams::find(handle);
  if (!found) return cudaErrorInvalidResourceHandle;
  if (capture::capturing(*found)) return capture::stream_wait_call(*found);
  streams::enqueue(*found, clock::host_call);
  function(handle);
  return cudaSuccess;
}

cudaError_t capture_info(cudaStream_t handle, cudaStreamCaptureStatus* status,
                         unsigned long long* id, cudaGraph_t* graph,
                         const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                         std::size_t* count) {
  if (!status) return cudaErrorInvalidValue;
  const stream* const found = streams::find(handle);
  if (!found) return cudaErrorInvalidResourceHandle;
  capture::information now;
  if (const cudaError_t error = capture::inform(*found, now); error != cudaSuccess) return error;
  *status = now.status;
  if (id) *id = now.id;
  if (graph) *graph = graphs::handle(now.into);
  if (dependencies) *dependencies = now.dependencies;
  if (edges) *edges = nullptr;
  if (count) *count = now.dependency_count;
  return cudaSuccess;
}

cudaError_t begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  stream* const found = streams::find(handle);
  return found ? capture::begin(*found, mode) : cudaErrorInvalidResourceHandle;
}

cudaError_t begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode, cudaGraph_t into,
                          const cudaGraphNode_t* after, std::size_t count) {
  stream* const found = streams::find(handle);
  if (!found) return cudaErrorInvalidResourceHandle;
  graph* const to = graphs::find(into);
  std::vector<graph_node*> nodes;
  if (!to || !nodes_of(after, count, nodes)) return cudaErrorInvalidValue;
  return capture::begin(*found, mode, to, std::move(nodes));
}

cudaError_t end_capture(cudaStream_t handle, cudaGraph_t* result) {
  stream* const found = streams::find(handle);
  if (!found) return cudaErrorInvalidResourceHandle;
  if (!result) return cudaErrorInvalidValue;
  graph* captured = nullptr;
  const cudaError_t error = capture::end(*found, captured);
  *result = graphs::handle(captured);
  return error;
}

cudaError_t update_capture(cudaStream_t handle, const cudaGraphNode_t* handles, std::size_t count,
                           unsigned flags) {
  stream* const found = streams::find(handle);
  if (!found) return cudaErrorInvalidResourceHandle;
  std::vector<graph_node*> nodes;
  if (flags > cudaStreamSetCaptureDependencies || !nodes_of(handles, count, nodes)) {
    return cudaErrorInvalidValue;
  }
  return capture::update_dependencies(*found, nodes, flags == cudaStreamSetCaptureDependencies);
}

}  // namespace memtrace::simulator::stream_calls
