// SPDX-License-Identifier: Apache-2.0
#include "interpose/census/graph_walk.h"

#include "interpose/autograd/class_name.h"
#include "interpose/autograd/node_names.h"
#include "interpose/autograd/running_node.h"
#include "interpose/autograd/tensor_layout.h"
#include "interpose/census/block_size.h"
#include "interpose/census/torch_storages.h"

namespace memtrace::census {

namespace {

constexpr std::string_view python_node = "PyNode";
constexpr std::string_view python_function = "torch._C._FunctionBase";
constexpr node nodes_between_looks_at_the_clock = 256;

address base_of_functions(address type) noexcept {
  while (type != 0 && full_name_of_type(type) != python_function) {
    type = load<address>(type, offset::base);
  }
  return type;
}

}  // namespace

graph_walk::graph_walk(search& found, const void* tensor_functions)
    : search_(found), contents_(tensor_functions), nodes_(found.most_objects()) {}

void graph_walk::from_found_tensors() {
  for (; next_tensor_ < search_.tensors_with_graphs().size(); ++next_tensor_) {
    const node holder = search_.tensors_with_graphs()[next_tensor_];
    const auto* const object = reinterpret_cast<const void*>(search_.objects().object(holder));
    walk(autograd::node_of(autograd::impl_of(object)), holder);
    if (search_.is_incomplete()) return;
  }
}

void graph_walk::walk(const void* first, node holder) {
  waiting_.assign(1, first);
  while (!waiting_.empty()) {
    const void* const next = waiting_.back();
    waiting_.pop_back();
    if (next == nullptr) continue;
    if (nodes_.add(reinterpret_cast<address>(next), 0) == no_node) continue;
    // A thread that had given up the GIL on its way into backward may have got there meanwhile.
    if (autograd::running_backwards() != 0) return;
    if (nodes_.size() % nodes_between_looks_at_the_clock == 0 && search_.is_out_of_time()) return;
    look_at(next, holder);
    const autograd::node_edges edges = autograd::edges_of(next);
    for (std::size_t i = 0; i < edges.count; ++i) waiting_.push_back(edges[i]);
  }
}

void graph_walk::note(const void* impl, node holder) {
  seen_storage seen;
  if (read_impl(impl, seen)) {
    seen.has_graph = false;  // the tensor that holds the graph is meant by that
    search_.note(holder, seen, format::held_graph);
  }
}

void graph_walk::look_at(const void* graph_node, node holder) {
  if (autograd::is_accumulate_grad(graph_node)) {
    const void* const leaf = autograd::accumulated(graph_node);
    if (leaf != nullptr) note(leaf, holder);
    return;
  }
  const void* const functions = autograd::functions_of(graph_node);
  if (autograd::last_part(autograd::mangled_class(functions)) == python_node) {
    return look_at_python_node(graph_node, holder);
  }
  const std::size_t size = bytes_from(graph_node);
  const std::size_t begin = autograd::bytes_of_any_node();
  if (size <= begin) return;
  const void* const own = static_cast<const char*>(graph_node) + begin;
  for (const void* impl : contents_.tensors(functions, own, size - begin)) note(impl, holder);
}

// A custom function's context: its attributes, as with any object, and what it has saved.
void graph_walk::look_at_python_node(const void* graph_node, node holder) {
  const auto object = reinterpret_cast<address>(autograd::accumulated(graph_node));
  const autograd::readable_memory memory;
  const address type = memory.word(object + python_stack::object::type);
  const address metatype = memory.word(type + python_stack::object::type);
  if (metatype == 0 ||
      (memory.word(metatype + python_stack::object::type_flags) & type_flag::type) == 0) {
    return;
  }
  const address base = base_of_functions(type);
  if (base == 0) return;
  constexpr std::size_t header = 16;
  const auto size = static_cast<std::size_t>(load<std::int64_t>(base, offset::basic_size));
  const auto* const own = reinterpret_cast<const void*>(object + header);
  for (const void* impl :
       contents_.tensors(reinterpret_cast<const void*>(base), own, size - header)) {
    note(impl, holder);
  }
  search_.from_object(object, holder);
}

}  // namespace memtrace::census
