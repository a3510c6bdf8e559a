// SPDX-License-Identifier: Apache-2.0
//
// The tensors that autograd's graphs keep: from each tensor that was found, through its grad_fn to
// every node behind it, to the tensors that the nodes have saved. Read natively: PyTorch's own
// getters would make Python objects that live as long as the tensors.
//
// Only while no backward pass runs in another thread: it frees what its nodes have saved. Nothing
// of a node is loaded all the same (graph_nodes.h).
#pragma once

#include "interpose/sight/heap_scan/graph_nodes.h"
#include "interpose/sight/heap_scan/node_contents.h"
#include "interpose/sight/heap_scan/search.h"

namespace memtrace::heap_scan {

class graph_walk {
 public:
  // `tensor_functions`: the virtual functions of an ordinary TensorImpl.
  graph_walk(search& found, const autograd::readable_memory& memory, const void* tensor_functions);

  // All tensors with a graph that were found since the last call.
  void from_found_tensors();

 private:
  [[nodiscard]] bool is_in_container(node which) const;
  void walk(const void* first, node holder);
  void look_at(const graph_nodes::copy& graph_node, node holder);
  void note(const void* impl, node holder);
  void look_at_python_node(const graph_nodes::copy& graph_node, node holder);

  search& search_;
  const autograd::readable_memory& memory_;
  graph_nodes nodes_;
  node_contents contents_;
  found_objects met_;
  std::vector<const void*> waiting_;
  std::size_t next_tensor_ = 0;
};

}  // namespace memtrace::heap_scan
