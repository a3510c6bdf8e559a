// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/node_names.h"

#include <atomic>

#include "interpose/sight/autograd/class_name.h"
#include "interpose/sight/autograd/python_nodes.h"
#include "interpose/sight/autograd/tensor_layout.h"
#include "interpose/sight/autograd/thread_memory.h"
#include "interpose/sight/python/layout.h"

namespace memtrace::autograd {
namespace {

std::uint32_t python_class(recorder& to, const void* node, std::string_view of_all,
                           thread_memory* kept) noexcept {
  const readable_memory memory;
  const std::uint64_t type = class_of_context(node, memory);
  if (type == 0) return to.text_id(of_all);
  if (kept != nullptr) {
    const std::uint32_t known = kept->names.find(type, to.generation());
    if (known != 0) return known;
  }
  const auto* const name = python_stack::load<const char*>(type, python_stack::object::type_name);
  const std::uint32_t id = to.text_id(name == nullptr ? of_all : std::string_view(name));
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
  if (is_python_node(name) && is_confirmed()) return python_class(to, node, name, memory);
  const std::uint32_t id = to.text_id(name);
  if (memory != nullptr) memory->names.keep(key, to.generation(), id);
  return id;
}

bool is_accumulate_grad(const void* node) noexcept {
  static constinit std::atomic<const void*> accumulate_grad{nullptr};
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
