// SPDX-License-Identifier: Apache-2.0
//
// Graphs: nodes with what they do to memory contents, events and the host when the graph is
// launched. Kernel nodes do nothing but take time.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <variant>
#include <vector>

#include "simulator/core/clock.h"
#include "simulator/core/device_memory.h"
#include "simulator/core/streams.h"

namespace memtrace::simulator {

struct graph;

struct child_graph {
  std::shared_ptr<graph> nodes;
};

struct freed_memory {
  address_t address;
};

// The parameters a node was made from, as the …GetParams functions give it back.
using node_parameters = std::variant<std::monostate, cudaKernelNodeParams, cudaMemcpy3DParms,
                                     cudaMemsetParams, cudaHostNodeParams, cudaEvent_t, child_graph,
                                     cudaMemAllocNodeParams, freed_memory>;

struct node_content {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  clock::duration time = 0;  // on the stream, at each launch
  node_parameters parameters{};
  std::function<void(stream&)> effect{};  // at each launch; may be empty
};

struct graph_node {
  graph* owner = nullptr;
  node_content content;
  std::vector<graph_node*> dependencies;
};

struct graph {
  std::vector<std::unique_ptr<graph_node>> nodes;             // in the order they were added
  std::unordered_map<const graph_node*, graph_node*> clones;  // of the graph this was cloned from
};

struct graph_exec {
  std::unique_ptr<graph> nodes;
  std::vector<graph_node*> order;                               // each after what it depends on
  std::unordered_map<const graph_node*, graph_node*> original;  // node given → node of this
  std::unordered_map<const graph_node*, bool> disabled;
  unsigned long long flags = 0;
};

namespace graphs {

// Null if the handle is none.
[[nodiscard]] graph* find(cudaGraph_t handle);
[[nodiscard]] graph_node* find(cudaGraphNode_t handle);
[[nodiscard]] graph_exec* find(cudaGraphExec_t handle);

[[nodiscard]] inline cudaGraph_t handle(graph* one) {
  return reinterpret_cast<cudaGraph_t>(one);
}
[[nodiscard]] inline cudaGraphNode_t handle(graph_node* one) {
  return reinterpret_cast<cudaGraphNode_t>(one);
}
[[nodiscard]] inline cudaGraphExec_t handle(graph_exec* one) {
  return reinterpret_cast<cudaGraphExec_t>(one);
}

[[nodiscard]] graph* create();
void destroy(graph* one);
[[nodiscard]] graph* clone(const graph& from);

// Contents of the nodes that record an event, or wait for one, at each launch.
[[nodiscard]] node_content event_record(cudaEvent_t event);
[[nodiscard]] node_content event_wait(cudaEvent_t event);

// A node that does what a copy of the graph does.
[[nodiscard]] node_content child(const graph& of);

graph_node& add(graph& to, node_content content, std::vector<graph_node*> dependencies);
// As the API's functions do: by handles, which may be wrong.
[[nodiscard]] cudaError_t add_by_handle(cudaGraphNode_t* result, cudaGraph_t to,
                                        const cudaGraphNode_t* dependencies, std::size_t count,
                                        node_content content);
void remove(graph_node& node);

// Null if the nodes depend on each other in a circle.
[[nodiscard]] graph_exec* instantiate(const graph& from, unsigned long long flags);
void destroy(graph_exec* one);
// Runs the nodes' effects and gives the stream their time; a child-graph node if it is capturing.
[[nodiscard]] cudaError_t launch(graph_exec& exec, stream& stream);

// Takes over the parameters of `from` if it has the same nodes in the same order.
[[nodiscard]] cudaGraphExecUpdateResult update(graph_exec& exec, const graph& from,
                                               graph_node*& mismatch);

// Writes the graph in Graphviz's language. False if the file cannot be written.
[[nodiscard]] bool print_dot(const graph& one, const char* path);

}  // namespace graphs
}  // namespace memtrace::simulator
