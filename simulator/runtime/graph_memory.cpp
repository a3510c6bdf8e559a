// SPDX-License-Identifier: Apache-2.0
//
// Nodes of graphs that allocate and free memory, in the runtime and the driver API, and what a
// device has reserved for them.
#include "simulator/core/graph_memory.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/graphs.h"

using namespace memtrace::simulator;

static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS_v1) == sizeof(cudaMemAllocNodeParams));
static_assert(offsetof(CUDA_MEM_ALLOC_NODE_PARAMS_v1, dptr) ==
              offsetof(cudaMemAllocNodeParams, dptr));

namespace {

cudaError_t add_allocation(cudaGraphNode_t* result, cudaGraph_t graph, const cudaGraphNode_t* after,
                           std::size_t count, cudaMemAllocNodeParams* what) {
  if (!what || !result || !graphs::find(graph)) return cudaErrorInvalidValue;
  const cudaMemLocation& where = what->poolProps.location;
  if (where.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
  if (!valid_device(where.id)) return cudaErrorInvalidDevice;
  address_t address = 0;
  const cudaError_t error = graph_memory::add(where.id, what->bytesize, address);
  if (error != cudaSuccess) return error;
  what->dptr = reinterpret_cast<void*>(address);
  return graphs::add_by_handle(result, graph, after, count,
                               {cudaGraphNodeTypeMemAlloc, 0, *what, {}});
}

cudaError_t add_release(cudaGraphNode_t* result, cudaGraph_t graph, const cudaGraphNode_t* after,
                        std::size_t count, address_t address) {
  if (!graph_memory::known(address)) return cudaErrorInvalidValue;
  return graphs::add_by_handle(result, graph, after, count,
                               {cudaGraphNodeTypeMemFree, 0, freed_memory{address}, {}});
}

template <typename Parameters>
const Parameters* parameters_of(cudaGraphNode_t handle) {
  const graph_node* const node = graphs::find(handle);
  return node ? std::get_if<Parameters>(&node->content.parameters) : nullptr;
}

cudaError_t check(int device, const void* value) {
  if (!value) return cudaErrorInvalidValue;
  return valid_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t get(int device, CUgraphMem_attribute attribute, void* value) {
  const cudaError_t error = check(device, value);
  return error == cudaSuccess ? graph_memory::get(device, attribute, value) : error;
}

cudaError_t set(int device, CUgraphMem_attribute attribute, const void* value) {
  const cudaError_t error = check(device, value);
  return error == cudaSuccess ? graph_memory::set(device, attribute, value) : error;
}

cudaError_t trim(int device) {
  if (!valid_device(device)) return cudaErrorInvalidDevice;
  graph_memory::trim(device);
  return cudaSuccess;
}

// The kinds of node that the general way to add one passes on without translation.
cudaError_t add_any(CUgraphNode* result, CUgraph graph, const CUgraphNode* after, std::size_t count,
                    CUgraphNodeParams* what) {
  if (!what) return cudaErrorInvalidValue;
  switch (what->type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      cudaMemAllocNodeParams same;
      std::memcpy(&same, &what->alloc, sizeof same);
      const cudaError_t error = add_allocation(result, graph, after, count, &same);
      if (error == cudaSuccess) what->alloc.dptr = reinterpret_cast<CUdeviceptr>(same.dptr);
      return error;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return add_release(result, graph, after, count, what->free.dptr);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return graphs::add_by_handle(result, graph, after, count, {});
    default:
      return cudaErrorNotSupported;
  }
}

}  // namespace

MEMTRACE_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                  const cudaGraphNode_t* after, std::size_t count,
                                                  cudaMemAllocNodeParams* what) {
  return remember(add_allocation(result, graph, after, count, what));
}

MEMTRACE_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                                 const cudaGraphNode_t* after, std::size_t count,
                                                 void* pointer) {
  return remember(add_release(result, graph, after, count, reinterpret_cast<address_t>(pointer)));
}

MEMTRACE_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                        cudaMemAllocNodeParams* result) {
  const auto* const found = parameters_of<cudaMemAllocNodeParams>(node);
  if (!found || !result) return remember(cudaErrorInvalidValue);
  *result = *found;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* result) {
  const auto* const found = parameters_of<freed_memory>(node);
  if (!found || !result) return remember(cudaErrorInvalidValue);
  *static_cast<address_t*>(result) = found->address;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType which,
                                                        void* value) {
  return remember(get(device, static_cast<CUgraphMem_attribute>(which), value));
}

MEMTRACE_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType which,
                                                        void* value) {
  return remember(set(device, static_cast<CUgraphMem_attribute>(which), value));
}

MEMTRACE_API cudaError_t cudaDeviceGraphMemTrim(int device) {
  return remember(trim(device));
}

MEMTRACE_API CUresult cuGraphAddMemAllocNode(CUgraphNode* result, CUgraph graph,
                                             const CUgraphNode* after, std::size_t count,
                                             CUDA_MEM_ALLOC_NODE_PARAMS* what) {
  return driver_result(
      add_allocation(result, graph, after, count, reinterpret_cast<cudaMemAllocNodeParams*>(what)));
}

MEMTRACE_API CUresult cuGraphAddMemFreeNode(CUgraphNode* result, CUgraph graph,
                                            const CUgraphNode* after, std::size_t count,
                                            CUdeviceptr address) {
  return driver_result(add_release(result, graph, after, count, address));
}

MEMTRACE_API CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node,
                                                   CUDA_MEM_ALLOC_NODE_PARAMS* result) {
  const auto* const found = parameters_of<cudaMemAllocNodeParams>(node);
  if (!found || !result) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(result, found, sizeof *found);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* result) {
  const auto* const found = parameters_of<freed_memory>(node);
  if (!found || !result) return CUDA_ERROR_INVALID_VALUE;
  *result = found->address;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute which,
                                                   void* value) {
  return driver_result(get(device, which, value));
}

MEMTRACE_API CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute which,
                                                   void* value) {
  return driver_result(set(device, which, value));
}

MEMTRACE_API CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return driver_result(trim(device));
}

// Both versions: the second has data for each edge, which means nothing here.
#undef cuGraphAddNode
MEMTRACE_API CUresult cuGraphAddNode(CUgraphNode* result, CUgraph graph, const CUgraphNode* after,
                                     std::size_t count, CUgraphNodeParams* what) {
  return driver_result(add_any(result, graph, after, count, what));
}

MEMTRACE_API CUresult cuGraphAddNode_v2(CUgraphNode* result, CUgraph graph,
                                        const CUgraphNode* after, const CUgraphEdgeData*,
                                        std::size_t count, CUgraphNodeParams* what) {
  return driver_result(add_any(result, graph, after, count, what));
}

// The runtime's structure has the driver's layout.
static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams));

#undef cudaGraphAddNode
#if CUDART_VERSION >= 13000
MEMTRACE_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                          const cudaGraphNode_t* after, const cudaGraphEdgeData*,
                                          std::size_t count, cudaGraphNodeParams* what) {
  return remember(add_any(result, graph, after, count, reinterpret_cast<CUgraphNodeParams*>(what)));
}
#else
MEMTRACE_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                          const cudaGraphNode_t* after, std::size_t count,
                                          cudaGraphNodeParams* what) {
  return remember(add_any(result, graph, after, count, reinterpret_cast<CUgraphNodeParams*>(what)));
}

MEMTRACE_API cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t* result, cudaGraph_t graph,
                                             const cudaGraphNode_t* after, const cudaGraphEdgeData*,
                                             std::size_t count, cudaGraphNodeParams* what) {
  return remember(add_any(result, graph, after, count, reinterpret_cast<CUgraphNodeParams*>(what)));
}
#endif
