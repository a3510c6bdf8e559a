// SPDX-License-Identifier: Apache-2.0
//
// Nodes of graphs that the program builds itself, and what they were made from.
#include <cuda_runtime_api.h>

#include "simulator/core/errors.h"
#include "simulator/core/events.h"
#include "simulator/core/export.h"
#include "simulator/core/graphs.h"
#include "simulator/core/launches.h"
#include "simulator/runtime/copy_shapes.h"

using namespace memtrace::simulator;

namespace {

node_content content_of(const cudaHostNodeParams& call) {
  return {cudaGraphNodeTypeHost, clock::host_call, call,
          [call](stream&) { call.fn(call.userData); }};
}

template <typename Parameters>
cudaError_t get(cudaGraphNode_t handle, Parameters* result) {
  graph_node* const node = graphs::find(handle);
  if (!node || !result) return cudaErrorInvalidValue;
  const auto* const found = std::get_if<Parameters>(&node->content.parameters);
  if (!found) return cudaErrorInvalidValue;
  *result = *found;
  return cudaSuccess;
}

cudaError_t replace(cudaGraphNode_t handle, node_content content) {
  graph_node* const node = graphs::find(handle);
  if (!node || node->content.type != content.type) return cudaErrorInvalidValue;
  node->content = std::move(content);
  return cudaSuccess;
}

cudaError_t content_of(const cudaKernelNodeParams* call, node_content& result) {
  if (!call || !call->func) return cudaErrorInvalidValue;
  if (!launches::valid({call->gridDim, call->blockDim, call->sharedMemBytes})) {
    return cudaErrorInvalidConfiguration;
  }
  result = {cudaGraphNodeTypeKernel, clock::kernel, *call, {}};
  return cudaSuccess;
}

cudaError_t content_of(const cudaMemcpy3DParms* box, node_content& result) {
  strided_copy copy;
  if (!box || !shape_of(*box, copy)) return cudaErrorInvalidValue;
  return copies::node(copy, box->kind, result);
}

cudaError_t content_of(const cudaMemsetParams* fill, node_content& result) {
  return fill ? copies::node(shape_of(*fill), result) : cudaErrorInvalidValue;
}

template <typename Parameters>
cudaError_t add_described(cudaGraphNode_t* result, cudaGraph_t graph,
                          const cudaGraphNode_t* dependencies, std::size_t count,
                          const Parameters* parameters) {
  node_content content;
  if (const cudaError_t error = content_of(parameters, content); error != cudaSuccess) return error;
  return graphs::add_by_handle(result, graph, dependencies, count, std::move(content));
}

template <typename Parameters>
cudaError_t set(cudaGraphNode_t node, const Parameters* parameters) {
  node_content content;
  if (const cudaError_t error = content_of(parameters, content); error != cudaSuccess) return error;
  return replace(node, std::move(content));
}

}  // namespace

MEMTRACE_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                               const cudaGraphNode_t* after, std::size_t count) {
  return remember(graphs::add_by_handle(result, graph, after, count, {}));
}

MEMTRACE_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                const cudaGraphNode_t* after, std::size_t count,
                                                const cudaKernelNodeParams* call) {
  return remember(add_described(result, graph, after, count, call));
}

MEMTRACE_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                const cudaGraphNode_t* after, std::size_t count,
                                                const cudaMemcpy3DParms* box) {
  return remember(add_described(result, graph, after, count, box));
}

MEMTRACE_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* result, cudaGraph_t graph,
                                                  const cudaGraphNode_t* after, std::size_t count,
                                                  void* to, const void* from, std::size_t bytes,
                                                  cudaMemcpyKind kind) {
  node_content content;
  const cudaError_t error = copies::node(copies::linear(to, from, bytes), kind, content);
  if (error != cudaSuccess) return remember(error);
  return remember(graphs::add_by_handle(result, graph, after, count, std::move(content)));
}

MEMTRACE_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                const cudaGraphNode_t* after, std::size_t count,
                                                const cudaMemsetParams* fill) {
  return remember(add_described(result, graph, after, count, fill));
}

MEMTRACE_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                              const cudaGraphNode_t* after, std::size_t count,
                                              const cudaHostNodeParams* call) {
  if (!call || !call->fn) return remember(cudaErrorInvalidValue);
  return remember(graphs::add_by_handle(result, graph, after, count, content_of(*call)));
}

MEMTRACE_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                    const cudaGraphNode_t* after, std::size_t count,
                                                    cudaGraph_t child) {
  auto* const of = graphs::find(child);
  if (!of) return remember(cudaErrorInvalidValue);
  return remember(graphs::add_by_handle(result, graph, after, count, graphs::child(*of)));
}

MEMTRACE_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                     const cudaGraphNode_t* after,
                                                     std::size_t count, cudaEvent_t event) {
  if (!events::find(event)) return remember(cudaErrorInvalidValue);
  return remember(graphs::add_by_handle(result, graph, after, count, graphs::event_record(event)));
}

MEMTRACE_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                   const cudaGraphNode_t* after, std::size_t count,
                                                   cudaEvent_t event) {
  if (!events::find(event)) return remember(cudaErrorInvalidValue);
  return remember(graphs::add_by_handle(result, graph, after, count, graphs::event_wait(event)));
}

MEMTRACE_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                      cudaKernelNodeParams* result) {
  return remember(get(node, result));
}

MEMTRACE_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                      const cudaKernelNodeParams* call) {
  return remember(set(node, call));
}

MEMTRACE_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                      cudaMemcpy3DParms* result) {
  return remember(get(node, result));
}

MEMTRACE_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                      const cudaMemcpy3DParms* box) {
  return remember(set(node, box));
}

MEMTRACE_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                      cudaMemsetParams* result) {
  return remember(get(node, result));
}

MEMTRACE_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                      const cudaMemsetParams* fill) {
  return remember(set(node, fill));
}

MEMTRACE_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                                    cudaHostNodeParams* result) {
  return remember(get(node, result));
}

MEMTRACE_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                    const cudaHostNodeParams* call) {
  if (!call || !call->fn) return remember(cudaErrorInvalidValue);
  return remember(replace(node, content_of(*call)));
}
