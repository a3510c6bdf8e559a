// SPDX-License-Identifier: Apache-2.0
#include "interpose/autograd/node_names.h"

#include <atomic>

#include "interpose/autograd/class_name.h"
#include "interpose/autograd/tensor_layout.h"
#include "interpose/autograd/thread_memory.h"

namespace memtrace::autograd {
namespace {

// A node of Python's holds the object of the custom function right behind what every node has, as
// an AccumulateGrad holds its tensor. PyObject: reference count, type; the type's name at 24.
constexpr std::string_view python_node = "PyNode";

std::string_view python_class(const void* node) noexcept {
  const void* const object = accumulated(node);
  if (object == nullptr) return python_node;
  const void* const type = static_cast<const void* const*>(object)[1];
  const char* const name = static_cast<const char* const*>(type)[3];
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
