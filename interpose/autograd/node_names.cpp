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

// The type of the object, or 0. It may be gone, as in backward passes that torch.compile made
// (PyTorch 2.15), and other versions of PyTorch may hold something else there.
std::uint64_t type_of_object(const void* node, const readable_memory& memory) noexcept {
  const auto object = reinterpret_cast<std::uint64_t>(accumulated(node));
  return object == 0 ? 0 : memory.word(object + python_stack::object::type);
}

// Whether its type is `type`, or a class made from it.
bool is_type(std::uint64_t type, const readable_memory& memory) noexcept {
  namespace offset = python_stack::object;
  const auto type_of_types =
      reinterpret_cast<std::uint64_t>(python_stack::find_symbol("PyType_Type"));
  const std::uint64_t own = memory.word(type + offset::type);
  return type_of_types != 0 && own != 0 &&
         (own == type_of_types || memory.word(own + offset::type) == type_of_types);
}

std::uint32_t python_class(recorder& to, const void* node, thread_memory* kept) noexcept {
  namespace offset = python_stack::object;
  const readable_memory memory;
  const std::uint64_t type = type_of_object(node, memory);
  if (type == 0) return to.text_id(python_node);
  if (kept != nullptr) {
    const std::uint32_t known = kept->names.find(type, to.generation());
    if (known != 0) return known;
  }
  if (!is_type(type, memory)) return to.text_id(python_node);
  const auto* const name = python_stack::load<const char*>(type, offset::type_name);
  const std::uint32_t id = to.text_id(name == nullptr ? python_node : std::string_view(name));
  if (kept != nullptr) kept->names.keep(type, to.generation(), id);
  return id;
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
  if (name == python_node && is_confirmed()) return python_class(to, node, memory);
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
