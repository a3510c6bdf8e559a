// SPDX-License-Identifier: Apache-2.0
#include "interpose/autograd/node_names.h"

#include <atomic>

#include "interpose/autograd/class_name.h"
#include "interpose/autograd/readable_memory.h"
#include "interpose/autograd/tensor_layout.h"
#include "interpose/autograd/thread_memory.h"
#include "interpose/python/interpreter.h"

namespace memtrace::autograd {
namespace {

// A node of Python's holds the object of the custom function right behind what every node has, as
// an AccumulateGrad holds its tensor.
constexpr std::string_view python_node = "PyNode";

// Whether that holds in this PyTorch, as the first such node tells: there is an object whose type's
// type is `type`, or a class made from it.
bool holds_an_object(const void* node) noexcept {
  namespace offset = python_stack::object;
  const auto type_of_types =
      reinterpret_cast<std::uint64_t>(python_stack::find_symbol("PyType_Type"));
  const readable_memory memory;
  std::uint64_t type = reinterpret_cast<std::uint64_t>(accumulated(node));
  for (int i = 0; i < 2; ++i) type = memory.word(type + offset::type);
  return type_of_types != 0 &&
         (type == type_of_types || memory.word(type + offset::type) == type_of_types);
}

std::string_view python_class(const void* node) noexcept {
  using python_stack::address;
  namespace offset = python_stack::object;
  const auto object = reinterpret_cast<address>(accumulated(node));
  if (object == 0) return python_node;
  static std::atomic<std::int8_t> known{-1};  // 0: no, 1: yes
  if (known.load(std::memory_order_relaxed) < 0) known.store(holds_an_object(node) ? 1 : 0);
  if (known.load(std::memory_order_relaxed) == 0) return python_node;
  const auto type = python_stack::load<address>(object, offset::type);
  const auto* const name = python_stack::load<const char*>(type, offset::type_name);
  return name == nullptr ? python_node : std::string_view(name);
}

}  // namespace

std::uint32_t node_name(recorder& to, const void* node) noexcept {
  thread_memory* const memory = this_threads_memory();
  const void* const functions = functions_of(node);
  const auto key = reinterpret_cast<std::uintptr_t>(functions);
  if (memory != nullptr) {
    const std::uint32_t known = memory->names.find(key, to.generation());
    if (known != 0) return known;
  }
  const std::string_view name = last_part(mangled_class(functions));
  // Many classes of Python share one of C++'s.
  if (name == python_node && is_confirmed()) return to.text_id(python_class(node));
  const std::uint32_t id = to.text_id(name);
  if (memory != nullptr) memory->names.keep(key, to.generation(), id);
  return id;
}

bool is_accumulate_grad(const void* node) noexcept {
  static std::atomic<const void*> accumulate_grad{nullptr};
  const void* const functions = functions_of(node);
  const void* const known = accumulate_grad.load(std::memory_order_relaxed);
  if (known != nullptr) return functions == known;
  if (mangled_class(functions) != "N5torch8autograd14AccumulateGradE") {
    return false;
  }
  accumulate_grad.store(functions, std::memory_order_relaxed);
  return true;
}

}  // namespace memtrace::autograd
