// SPDX-License-Identifier: Apache-2.0
//
// The real function behind a wrapper, as the calling library would have found it. A process may
// hold two versions of cuBLAS or cuDNN, for two frameworks; a handle of one must not reach the
// other, and a wrapper stands in front of both.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/ground/loader/hook_table.h"

namespace memtrace {

// The functions that the calls from one library are bound to. Kept for good: a process has few such
// libraries.
struct caller_binding {
  const caller_binding* next;
  std::uintptr_t begin;  // of the calling library
  std::uintptr_t end;
  void* real;
};
using caller_bindings = std::atomic<const caller_binding*>;

// Finds and keeps it; null if there is none. Some microseconds.
[[nodiscard]] void* bind_caller(hook_id id, const void* caller, caller_bindings& known) noexcept;

template <typename Function>
[[nodiscard]] Function* real_function_for(hook_id id, const void* caller,
                                          caller_bindings& known) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  const caller_binding* binding = known.load(std::memory_order_acquire);
  while (binding != nullptr && (at < binding->begin || at >= binding->end)) binding = binding->next;
  void* const real = binding != nullptr ? binding->real : bind_caller(id, caller, known);
  return reinterpret_cast<Function*>(real);
}

}  // namespace memtrace
