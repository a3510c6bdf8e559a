// SPDX-License-Identifier: Apache-2.0
//
// Whole graphs of the runtime API: their nodes and edges, copies, files.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/graphs.h"

using namespace memtrace::simulator;

namespace {

// The two-step protocol of all lists: null asks for the count; a longer buffer is filled with null.
cudaError_t list(const std::vector<graph_node*>& nodes, cudaGraphNode_t* out, std::size_t* count) {
  if (!count) return cudaErrorInvalidValue;
  if (out) {
    for (std::size_t i = 0; i < *count; ++i) {
      out[i] = i < nodes.size() ? graphs::handle(nodes[i]) : nullptr;
    }
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
  return cudaSuccess;
}

std::vector<graph_node*> followers(const graph_node& of) {
  std::vector<graph_node*> result;
  for (const auto& node : of.owner->nodes) {
    const auto& before = node->dependencies;
    if (std::find(before.begin(), before.end(), &of) != before.end()) result.push_back(node.get());
  }
  return result;
}

cudaError_t dependencies(cudaGraphNode_t handle, cudaGraphNode_t* out, cudaGraphEdgeData* edges,
                         std::size_t* count) {
  graph_node* const node = graphs::find(handle);
  if (!node) return cudaErrorInvalidValue;
  const std::size_t room = count ? *count : 0;
  const cudaError_t error = list(node->dependencies, out, count);
  if (out && edges) std::fill(edges, edges + room, cudaGraphEdgeData{});
  return error;
}

cudaError_t dependents(cudaGraphNode_t handle, cudaGraphNode_t* out, cudaGraphEdgeData* edges,
                       std::size_t* count) {
  graph_node* const node = graphs::find(handle);
  if (!node) return cudaErrorInvalidValue;
  const std::size_t room = count ? *count : 0;
  const cudaError_t error = list(followers(*node), out, count);
  if (out && edges) std::fill(edges, edges + room, cudaGraphEdgeData{});
  return error;
}

cudaError_t all_edges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to,
                      std::size_t* count) {
  graph* const one = graphs::find(handle);
  if (!one || !count || !from != !to) return cudaErrorInvalidValue;
  std::vector<graph_node*> starts;
  std::vector<graph_node*> ends;
  for (const auto& node : one->nodes) {
    for (graph_node* before : node->dependencies) {
      starts.push_back(before);
      ends.push_back(node.get());
    }
  }
  std::size_t room = *count;
  (void)list(starts, from, &room);
  return list(ends, to, count);
}

cudaError_t connect(cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                    std::size_t count, bool adding) {
  if (!graphs::find(handle) || (count > 0 && (!from || !to))) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; ++i) {
    graph_node* const start = graphs::find(from[i]);
    graph_node* const end = graphs::find(to[i]);
    if (!start || !end || start == end) return cudaErrorInvalidValue;
    auto& before = end->dependencies;
    const auto found = std::find(before.begin(), before.end(), start);
    if ((found != before.end()) == adding) return cudaErrorInvalidValue;
    if (adding) {
      before.push_back(start);
    } else {
      before.erase(found);
    }
  }
  return cudaSuccess;
}

}  // namespace

MEMTRACE_API cudaError_t cudaGraphCreate(cudaGraph_t* result, unsigned flags) {
  if (!result || flags != 0) return remember(cudaErrorInvalidValue);
  *result = graphs::handle(graphs::create());
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  graph* const one = graphs::find(handle);
  if (!one) return remember(cudaErrorInvalidValue);
  graphs::destroy(one);
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGraphClone(cudaGraph_t* result, cudaGraph_t handle) {
  graph* const one = graphs::find(handle);
  if (!one || !result) return remember(cudaErrorInvalidValue);
  *result = graphs::handle(graphs::clone(*one));
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* result, cudaGraphNode_t node,
                                                  cudaGraph_t handle) {
  graph* const clone = graphs::find(handle);
  if (!clone || !result) return remember(cudaErrorInvalidValue);
  const auto found = clone->clones.find(graphs::find(node));
  if (found == clone->clones.end()) return remember(cudaErrorInvalidValue);
  *result = graphs::handle(found->second);
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* out,
                                           std::size_t* count) {
  graph* const one = graphs::find(handle);
  if (!one) return remember(cudaErrorInvalidValue);
  std::vector<graph_node*> nodes;
  for (const auto& node : one->nodes) nodes.push_back(node.get());
  return remember(list(nodes, out, count));
}

MEMTRACE_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* out,
                                               std::size_t* count) {
  graph* const one = graphs::find(handle);
  if (!one) return remember(cudaErrorInvalidValue);
  std::vector<graph_node*> nodes;
  for (const auto& node : one->nodes) {
    if (node->dependencies.empty()) nodes.push_back(node.get());
  }
  return remember(list(nodes, out, count));
}

MEMTRACE_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  graph_node* const node = graphs::find(handle);
  if (!node || !type) return remember(cudaErrorInvalidValue);
  *type = node->content.type;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  graph_node* const node = graphs::find(handle);
  if (!node) return remember(cudaErrorInvalidValue);
  graphs::remove(*node);
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path, unsigned) {
  graph* const one = graphs::find(handle);
  if (!one || !path) return remember(cudaErrorInvalidValue);
  return remember(graphs::print_dot(*one, path) ? cudaSuccess : cudaErrorOperatingSystem);
}

#if CUDART_VERSION >= 13000
MEMTRACE_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out,
                                                      cudaGraphEdgeData* edges,
                                                      std::size_t* count) {
  return remember(dependencies(node, out, edges, count));
}

MEMTRACE_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* out,
                                                        cudaGraphEdgeData* edges,
                                                        std::size_t* count) {
  return remember(dependents(node, out, edges, count));
}

MEMTRACE_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                           cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                                           std::size_t* count) {
  if (edges && count) std::fill(edges, edges + *count, cudaGraphEdgeData{});
  return remember(all_edges(graph, from, to, count));
}

MEMTRACE_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                  const cudaGraphNode_t* to,
                                                  const cudaGraphEdgeData*, std::size_t count) {
  return remember(connect(graph, from, to, count, true));
}

MEMTRACE_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                     const cudaGraphNode_t* to,
                                                     const cudaGraphEdgeData*, std::size_t count) {
  return remember(connect(graph, from, to, count, false));
}
#else
MEMTRACE_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out,
                                                      std::size_t* count) {
  return remember(dependencies(node, out, nullptr, count));
}

MEMTRACE_API cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t* out,
                                                         cudaGraphEdgeData* edges,
                                                         std::size_t* count) {
  return remember(dependencies(node, out, edges, count));
}

MEMTRACE_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* out,
                                                        std::size_t* count) {
  return remember(dependents(node, out, nullptr, count));
}

MEMTRACE_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                           cudaGraphNode_t* to, std::size_t* count) {
  return remember(all_edges(graph, from, to, count));
}

MEMTRACE_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                  const cudaGraphNode_t* to, std::size_t count) {
  return remember(connect(graph, from, to, count, true));
}

MEMTRACE_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                     const cudaGraphNode_t* to, std::size_t count) {
  return remember(connect(graph, from, to, count, false));
}
#endif
