// SPDX-License-Identifier: Apache-2.0
//
// Graphs of the driver API: its handles are those of the runtime, which does the work.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simulator/core/errors.h"
#include "simulator/core/export.h"

// Each version of these is its own function here.
#undef cuGraphGetEdges
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphInstantiate

using namespace memtrace::simulator;

namespace {

// The driver's errors do not show in the runtime's last error.
template <typename Call>
CUresult quietly(Call call) {
  const cudaError_t before = peek_last_error();
  const cudaError_t error = call();
  if (error != cudaSuccess) {
    (void)take_last_error();
    (void)remember(before);
  }
  return driver_result(error);
}

CUresult dependencies(CUgraphNode node, CUgraphNode* out, CUgraphEdgeData* edges,
                      std::size_t* count) {
  if (out && edges && count) {
    for (std::size_t i = 0; i < *count; ++i) edges[i] = {};
  }
#if CUDART_VERSION >= 13000
  return quietly([&] { return cudaGraphNodeGetDependencies(node, out, nullptr, count); });
#else
  return quietly([&] { return cudaGraphNodeGetDependencies(node, out, count); });
#endif
}

CUresult dependents(CUgraphNode node, CUgraphNode* out, CUgraphEdgeData* edges,
                    std::size_t* count) {
  if (out && edges && count) {
    for (std::size_t i = 0; i < *count; ++i) edges[i] = {};
  }
#if CUDART_VERSION >= 13000
  return quietly([&] { return cudaGraphNodeGetDependentNodes(node, out, nullptr, count); });
#else
  return quietly([&] { return cudaGraphNodeGetDependentNodes(node, out, count); });
#endif
}

CUgraphNodeType driver_type(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeMemcpy:
      return CU_GRAPH_NODE_TYPE_MEMCPY;
    case cudaGraphNodeTypeMemset:
      return CU_GRAPH_NODE_TYPE_MEMSET;
    case cudaGraphNodeTypeHost:
      return CU_GRAPH_NODE_TYPE_HOST;
    case cudaGraphNodeTypeGraph:
      return CU_GRAPH_NODE_TYPE_GRAPH;
    case cudaGraphNodeTypeEmpty:
      return CU_GRAPH_NODE_TYPE_EMPTY;
    case cudaGraphNodeTypeMemAlloc:
      return CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    case cudaGraphNodeTypeMemFree:
      return CU_GRAPH_NODE_TYPE_MEM_FREE;
    case cudaGraphNodeTypeWaitEvent:
      return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    case cudaGraphNodeTypeEventRecord:
      return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    default:
      return CU_GRAPH_NODE_TYPE_KERNEL;
  }
}

}  // namespace

MEMTRACE_API CUresult cuGraphCreate(CUgraph* result, unsigned flags) {
  return quietly([&] { return cudaGraphCreate(result, flags); });
}

MEMTRACE_API CUresult cuGraphDestroy(CUgraph graph) {
  return quietly([&] { return cudaGraphDestroy(graph); });
}

MEMTRACE_API CUresult cuGraphClone(CUgraph* result, CUgraph graph) {
  return quietly([&] { return cudaGraphClone(result, graph); });
}

MEMTRACE_API CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* out, std::size_t* count) {
  return quietly([&] { return cudaGraphGetNodes(graph, out, count); });
}

MEMTRACE_API CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* out, std::size_t* count) {
  return quietly([&] { return cudaGraphGetRootNodes(graph, out, count); });
}

MEMTRACE_API CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  auto found = cudaGraphNodeTypeEmpty;
  const CUresult result = quietly([&] { return cudaGraphNodeGetType(node, &found); });
  if (result == CUDA_SUCCESS && type) *type = driver_type(found);
  return type ? result : CUDA_ERROR_INVALID_VALUE;
}

MEMTRACE_API CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* out,
                                                 std::size_t* count) {
  return dependencies(node, out, nullptr, count);
}

MEMTRACE_API CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* out,
                                                    CUgraphEdgeData* edges, std::size_t* count) {
  return dependencies(node, out, edges, count);
}

MEMTRACE_API CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* out,
                                                   std::size_t* count) {
  return dependents(node, out, nullptr, count);
}

MEMTRACE_API CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* out,
                                                      CUgraphEdgeData* edges, std::size_t* count) {
  return dependents(node, out, edges, count);
}

MEMTRACE_API CUresult cuGraphDestroyNode(CUgraphNode node) {
  return quietly([&] { return cudaGraphDestroyNode(node); });
}

MEMTRACE_API CUresult cuGraphAddEmptyNode(CUgraphNode* result, CUgraph graph,
                                          const CUgraphNode* after, std::size_t count) {
  return quietly([&] { return cudaGraphAddEmptyNode(result, graph, after, count); });
}

MEMTRACE_API CUresult cuGraphAddChildGraphNode(CUgraphNode* result, CUgraph graph,
                                               const CUgraphNode* after, std::size_t count,
                                               CUgraph child) {
  return quietly([&] { return cudaGraphAddChildGraphNode(result, graph, after, count, child); });
}

MEMTRACE_API CUresult cuGraphAddHostNode(CUgraphNode* result, CUgraph graph,
                                         const CUgraphNode* after, std::size_t count,
                                         const CUDA_HOST_NODE_PARAMS* call) {
  if (!call) return CUDA_ERROR_INVALID_VALUE;
  const cudaHostNodeParams same{call->fn, call->userData};
  return quietly([&] { return cudaGraphAddHostNode(result, graph, after, count, &same); });
}

MEMTRACE_API CUresult cuGraphAddEventRecordNode(CUgraphNode* result, CUgraph graph,
                                                const CUgraphNode* after, std::size_t count,
                                                CUevent event) {
  return quietly([&] { return cudaGraphAddEventRecordNode(result, graph, after, count, event); });
}

MEMTRACE_API CUresult cuGraphAddEventWaitNode(CUgraphNode* result, CUgraph graph,
                                              const CUgraphNode* after, std::size_t count,
                                              CUevent event) {
  return quietly([&] { return cudaGraphAddEventWaitNode(result, graph, after, count, event); });
}

MEMTRACE_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* result, CUgraph graph,
                                                  unsigned long long flags) {
  return quietly([&] { return cudaGraphInstantiateWithFlags(result, graph, flags); });
}

MEMTRACE_API CUresult cuGraphInstantiateWithParams(CUgraphExec* result, CUgraph graph,
                                                   CUDA_GRAPH_INSTANTIATE_PARAMS* how) {
  if (!how) return CUDA_ERROR_INVALID_VALUE;
  const CUresult error =
      quietly([&] { return cudaGraphInstantiateWithFlags(result, graph, how->flags); });
  how->hErrNode_out = nullptr;
  how->result_out = error == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                                          : CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
  return error;
}

MEMTRACE_API CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return quietly([&] { return cudaGraphExecDestroy(exec); });
}

MEMTRACE_API CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return quietly([&] { return cudaGraphLaunch(exec, stream); });
}

MEMTRACE_API CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
  return cuGraphLaunch(exec, stream ? stream : CU_STREAM_PER_THREAD);
}

MEMTRACE_API CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return quietly([&] { return cudaGraphUpload(exec, stream); });
}

MEMTRACE_API CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph,
                                        CUgraphExecUpdateResultInfo* info) {
  cudaGraphExecUpdateResultInfo found{};
  const CUresult result = quietly([&] { return cudaGraphExecUpdate(exec, graph, &found); });
  if (info) {
    *info = {};
    info->result = static_cast<CUgraphExecUpdateResult>(found.result);
    info->errorNode = found.errorNode;
  }
  return result;
}

MEMTRACE_API CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags) {
  return quietly([&] { return cudaGraphDebugDotPrint(graph, path, flags); });
}
