// SPDX-License-Identifier: Apache-2.0
//
// The ids from the recorder that each thread keeps.
#pragma once

#include "interpose/sight/autograd/forward_places.h"
#include "interpose/sight/autograd/id_cache.h"

namespace memtrace::autograd {

// On the heap: thread-local variables come out of the thread's stack, which may be small.
struct thread_memory {
  id_cache<8> objects;            // by address
  id_cache<6> names;              // of nodes, by the address of their type information or class
  places_slot* places = nullptr;  // of this thread's forward calls
  std::uint64_t thread = 0;       // at::RecordFunction::currentThreadId(), 0: not asked yet
};

namespace detail {
extern thread_local constinit thread_memory* memory __attribute__((tls_model("initial-exec")));
[[nodiscard]] thread_memory* make_memory() noexcept;
}  // namespace detail

// Made when asked for first; null without memory. Gone when the thread ends.
[[nodiscard]] inline thread_memory* this_threads_memory() noexcept {
  return detail::memory != nullptr ? detail::memory : detail::make_memory();
}

}  // namespace memtrace::autograd
