// SPDX-License-Identifier: Apache-2.0
//
// Executable graphs of the runtime API.
#include <cuda_runtime_api.h>

#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/graphs.h"

using namespace memtrace::simulator;

namespace {

cudaError_t instantiate(cudaGraphExec_t* result, cudaGraph_t handle, unsigned long long flags) {
  graph* const one = graphs::find(handle);
  if (!one || !result) return cudaErrorInvalidValue;
  graph_exec* const exec = graphs::instantiate(*one, flags);
  *result = graphs::handle(exec);
  return exec ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t launch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  graph_exec* const exec = graphs::find(handle);
  stream* const on = streams::find(stream_handle);
  if (!exec) return cudaErrorInvalidValue;
  if (!on) return cudaErrorInvalidResourceHandle;
  return graphs::launch(*exec, *on);
}

graph_node* node_of(cudaGraphExec_t handle, cudaGraphNode_t node) {
  graph_exec* const exec = graphs::find(handle);
  if (!exec) return nullptr;
  const auto found = exec->original.find(reinterpret_cast<const graph_node*>(node));
  return found == exec->original.end() ? nullptr : found->second;
}

}  // namespace

#if CUDART_VERSION >= 12000
MEMTRACE_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* result, cudaGraph_t graph,
                                              unsigned long long flags) {
  return remember(instantiate(result, graph, flags));
}
#endif

MEMTRACE_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* result, cudaGraph_t graph,
                                                       unsigned long long flags) {
  return remember(instantiate(result, graph, flags));
}

MEMTRACE_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* result, cudaGraph_t graph,
                                                        cudaGraphInstantiateParams* how) {
  if (!how) return remember(cudaErrorInvalidValue);
  const cudaError_t error = instantiate(result, graph, how->flags);
  how->errNode_out = nullptr;
  how->result_out =
      error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateInvalidStructure;
  return remember(error);
}

MEMTRACE_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  graph_exec* const exec = graphs::find(handle);
  if (!exec) return remember(cudaErrorInvalidValue);
  graphs::destroy(exec);
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
  graph_exec* const exec = graphs::find(handle);
  if (!exec || !flags) return remember(cudaErrorInvalidValue);
  *flags = exec->flags;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return remember(launch(exec, stream));
}

MEMTRACE_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  const bool known = graphs::find(exec) && streams::find(stream);
  return remember(known ? cudaSuccess : cudaErrorInvalidValue);
}

MEMTRACE_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t from,
                                             cudaGraphExecUpdateResultInfo* info) {
  graph_exec* const exec = graphs::find(handle);
  graph* const one = graphs::find(from);
  if (!exec || !one) return remember(cudaErrorInvalidValue);
  graph_node* mismatch = nullptr;
  const cudaGraphExecUpdateResult result = graphs::update(*exec, *one, mismatch);
  if (info) {
    *info = {};
    info->result = result;
    info->errorNode = graphs::handle(mismatch);
  }
  return remember(result == cudaGraphExecUpdateSuccess ? cudaSuccess
                                                       : cudaErrorGraphExecUpdateFailure);
}

MEMTRACE_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t handle, cudaGraphNode_t node,
                                                 unsigned enabled) {
  graph_node* const found = node_of(handle, node);
  if (!found) return remember(cudaErrorInvalidValue);
  if (enabled != 0) {
    graphs::find(handle)->disabled.erase(found);
  } else {
    graphs::find(handle)->disabled[found] = true;
  }
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t handle, cudaGraphNode_t node,
                                                 unsigned* enabled) {
  graph_node* const found = node_of(handle, node);
  if (!found || !enabled) return remember(cudaErrorInvalidValue);
  *enabled = graphs::find(handle)->disabled.count(found) == 0 ? 1 : 0;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t handle,
                                                          cudaGraphNode_t node,
                                                          const cudaKernelNodeParams* parameters) {
  graph_node* const found = node_of(handle, node);
  if (!found || !parameters || found->content.type != cudaGraphNodeTypeKernel) {
    return remember(cudaErrorInvalidValue);
  }
  found->content.parameters = *parameters;
  return cudaSuccess;
}
