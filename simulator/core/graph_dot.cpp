// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "simulator/core/graphs.h"
#include "simulator/core/kernels.h"

namespace memtrace::simulator::graphs {
namespace {

const char* type_name(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "KERNEL";
    case cudaGraphNodeTypeMemcpy:
      return "MEMCPY";
    case cudaGraphNodeTypeMemset:
      return "MEMSET";
    case cudaGraphNodeTypeHost:
      return "HOST";
    case cudaGraphNodeTypeGraph:
      return "GRAPH";
    case cudaGraphNodeTypeEmpty:
      return "EMPTY";
    case cudaGraphNodeTypeWaitEvent:
      return "EVENT_WAIT";
    case cudaGraphNodeTypeEventRecord:
      return "EVENT_RECORD";
    default:
      return "OTHER";
  }
}

const char* label(const graph_node& node) {
  if (const auto* const call = std::get_if<cudaKernelNodeParams>(&node.content.parameters)) {
    const char* const name = kernels::name_of(call->func);
    return name ? name : "";
  }
  return "";
}

}  // namespace

bool print_dot(const graph& one, const char* path) {
  std::FILE* const file = std::fopen(path, "w");
  if (!file) return false;
  std::unordered_map<const graph_node*, std::size_t> number;
  for (const auto& node : one.nodes) number.emplace(node.get(), number.size());
  std::fputs("digraph dot {\n", file);
  for (const auto& node : one.nodes) {
    const std::size_t to = number[node.get()];
    std::fprintf(file, "\"node_%zu\" [label=\"%zu %s %s\"];\n", to, to,
                 type_name(node->content.type), label(*node));
    for (const graph_node* before : node->dependencies) {
      std::fprintf(file, "\"node_%zu\" -> \"node_%zu\";\n", number[before], to);
    }
  }
  std::fputs("}\n", file);
  return std::fclose(file) == 0;
}

}  // namespace memtrace::simulator::graphs
