// SPDX-License-Identifier: Apache-2.0
#include "interpose/autograd/python_nodes.h"

#include <atomic>

#include "interpose/autograd/class_name.h"
#include "interpose/autograd/tensor_layout.h"
#include "interpose/base/errno_keeper.h"
#include "interpose/python/interpreter.h"
#include "interpose/session/session.h"

namespace memtrace::autograd {
namespace {

std::atomic<context_reader> reader{nullptr};

}  // namespace

bool is_type(std::uint64_t type, const readable_memory& memory) noexcept {
  namespace offset = python_stack::object;
  const auto type_of_types =
      reinterpret_cast<std::uint64_t>(python_stack::find_symbol("PyType_Type"));
  const std::uint64_t own = memory.word(type + offset::type);
  return type_of_types != 0 && own != 0 &&
         (own == type_of_types || memory.word(own + offset::type) == type_of_types);
}

bool is_python_node(std::string_view class_name) noexcept {
  return class_name == "PyNode";
}

bool is_python_node(const void* node) noexcept {
  static std::atomic<const void*> python_node{nullptr};
  const void* const functions = functions_of(node);
  const void* const known = python_node.load(std::memory_order_relaxed);
  if (known != nullptr) return functions == known;
  if (!is_python_node(last_part(mangled_class(functions)))) return false;
  python_node.store(functions, std::memory_order_relaxed);
  return true;
}

// The object stands right behind what every node has, as an AccumulateGrad holds its tensor.
python_context context_of(const void* node, const readable_memory& memory) noexcept {
  const auto object = reinterpret_cast<std::uint64_t>(accumulated(node));
  if (object == 0) return {};
  return {object, memory.word(object + python_stack::object::type)};
}

void read_contexts_with(context_reader now) noexcept {
  reader.store(now, std::memory_order_release);
}

void before_node(const void* node) {
  const context_reader read = reader.load(std::memory_order_acquire);
  if (read == nullptr || !is_confirmed() || !is_python_node(node)) return;
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to == nullptr) return;
  const readable_memory memory;
  const python_context context = context_of(node, memory);
  if (context.type == 0 || !is_type(context.type, memory)) return;
  // Objects that are gone have a count of 0 until their memory is used again.
  if (static_cast<std::uint32_t>(memory.word(context.object)) == 0) return;
  read(*to, context);
}

}  // namespace memtrace::autograd
