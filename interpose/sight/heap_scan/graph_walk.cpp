// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/graph_walk.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "interpose/sight/autograd/running_node.h"
#include "interpose/sight/autograd/tensor_layout.h"
#include "interpose/sight/heap_scan/block_size.h"
#include "memtrace/trace_format.h"

namespace memtrace::heap_scan {

namespace {

constexpr std::string_view python_function = "torch._C._FunctionBase";

address base_of_functions(address type) noexcept {
  while (type != 0 && full_name_of_type(type) != python_function) {
    type = load<address>(type, offset::base);
  }
  return type;
}

}  // namespace

graph_walk::graph_walk(search& found, const autograd::readable_memory& memory,
                       const void* tensor_functions)
    : search_(found),
      memory_(memory),
      nodes_(memory),
      contents_(memory, tensor_functions),
      met_(found.most_objects(), found.until()) {}

bool graph_walk::is_in_container(node which) const {
  const found_objects& objects = search_.objects();
  if (objects.is_root(which)) return false;
  switch (search_.kind_of(objects.object(objects.parent(which)))) {
    case kind::list:
    case kind::tuple:
    case kind::set:
    case kind::deque:
      return true;
    default:
      return false;
  }
}

// Variables before what is in containers, and the oldest first: a state that is carried from step
// to step has the graphs of steps before, and the latest loss has them from it.
void graph_walk::from_found_tensors() {
  constexpr std::uint64_t sequence_number = 24;  // after the node's functions and its own weak_ptr
  struct begin {
    bool in_container;
    std::uint64_t age;
    const void* first;
    node holder;
  };
  std::vector<begin> found;
  while (next_tensor_ < search_.tensors_with_graphs().size()) {
    found.clear();
    for (; next_tensor_ < search_.tensors_with_graphs().size(); ++next_tensor_) {
      if (search_.until().is_over()) return;
      const node holder = search_.tensors_with_graphs()[next_tensor_];
      const auto* const object = reinterpret_cast<const void*>(search_.objects().object(holder));
      const void* const first = autograd::node_of(autograd::impl_of(object));
      const auto at = reinterpret_cast<address>(first);
      found.push_back({is_in_container(holder),
                       first == nullptr ? 0 : memory_.word(at + sequence_number), first, holder});
    }
    std::stable_sort(found.begin(), found.end(), [](const begin& one, const begin& other) {
      return std::tie(one.in_container, one.age) < std::tie(other.in_container, other.age);
    });
    for (const begin& one : found) {
      walk(one.first, one.holder);
      if (search_.is_incomplete()) return;
    }
  }
}

void graph_walk::walk(const void* first, node holder) {
  waiting_.assign(1, first);
  while (!waiting_.empty()) {
    const void* const next = waiting_.back();
    waiting_.pop_back();
    if (next == nullptr) continue;
    if (met_.add(reinterpret_cast<address>(next), 0) == no_node) continue;
    // A thread that had given up the GIL on its way into backward may have got there meanwhile.
    if (autograd::running_backwards() != 0) return;
    if (search_.until().is_over()) return;
    graph_nodes::copy here;
    if (nodes_.read(next, here, waiting_)) look_at(here, holder);
  }
}

void graph_walk::note(const void* impl, node holder) {
  seen_storage seen;
  if (nodes_.read_tensor(impl, seen)) search_.note(holder, seen, format::held_graph);
}

void graph_walk::look_at(const graph_nodes::copy& graph_node, node holder) {
  switch (graph_node.what) {
    case graph_nodes::kind::accumulates_gradient:
      if (graph_node.holds != nullptr) note(graph_node.holds, holder);
      return;
    case graph_nodes::kind::of_python:
      return look_at_python_node(graph_node, holder);
    case graph_nodes::kind::ordinary:
      break;
  }
  const std::size_t size = bytes_from(memory_, graph_node.original);
  const std::size_t begin = autograd::bytes_of_any_node();
  if (size <= begin) return;
  const void* const own = static_cast<const char*>(graph_node.original) + begin;
  for (const void* impl : contents_.tensors(graph_node.functions, own, size - begin)) {
    note(impl, holder);
  }
}

// A custom function's context: its attributes, as with any object, and what it has saved.
void graph_walk::look_at_python_node(const graph_nodes::copy& graph_node, node holder) {
  const auto object = reinterpret_cast<address>(graph_node.holds);
  const address type = memory_.word(object + python_stack::object::type);
  const address metatype = memory_.word(type + python_stack::object::type);
  if (metatype == 0 || memory_.word(object) == 0 ||  // nobody refers to it
      (memory_.word(metatype + python_stack::object::type_flags) & type_flag::type) == 0) {
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

}  // namespace memtrace::heap_scan
