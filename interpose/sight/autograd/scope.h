// SPDX-License-Identifier: Apache-2.0
//
// Where in the model and in the autograd graph the calling thread is: what an allocator event is
// recorded with.
#pragma once

#include "interpose/ground/recorder/recorder.h"
#include "interpose/sight/python/python_stack.h"

namespace memtrace::autograd {

// `here` is what python_stack::capture_place() found at this event. Takes the recorder's lock when
// a module or a node's name is met for the first time by this thread. Whether gradients are
// recorded, inference mode and autocast are asked at allocations only: a free has them as they were
// at the thread's last allocation.
void set_scope(event_scope& scope, recorder& to, const python_stack::captured& here,
               bool is_free) noexcept;

// The calling thread records gradients; a PyTorch that cannot be asked counts as one that does.
[[nodiscard]] bool is_grad_on() noexcept;
// Autocast is on for CUDA in the calling thread.
[[nodiscard]] bool is_autocast_on() noexcept;

// Whether this thread is inside Optimizer.step, as the agent's optimizer hooks say.
namespace detail {
inline thread_local constinit unsigned optimizer_depth __attribute__((tls_model("initial-exec"))) =
    0;
}

inline void enter_optimizer() noexcept {
  ++detail::optimizer_depth;
}
// More often than entered is without effect.
inline void leave_optimizer() noexcept {
  if (detail::optimizer_depth > 0) --detail::optimizer_depth;
}
[[nodiscard]] inline bool is_in_optimizer() noexcept {
  return detail::optimizer_depth > 0;
}

}  // namespace memtrace::autograd
