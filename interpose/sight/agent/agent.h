// SPDX-License-Identifier: Apache-2.0
//
// The part of memtrace that runs as Python inside the traced program (agent.py): it names modules
// and says which storages are parameters, buffers, gradients and optimizer states;
// compiled_code.py says which lines of the program the code stands for that torch.compile made,
// which generated_statements.py reads.
//
//   event ─► see_place() ─► pending call ─► agent.py is compiled and run once
//        └─► see_place() ─► pending call ─► agent.py looks at a module that was not known, or
//                                           whose parameters may have changed
//   Optimizer.step ─► PyTorch's global hooks ─► agent.py ─► bridge.h ─► recorder
//
// Nothing here runs Python inside an event. The program's objects are held by weak references.
// MEMTRACE_AGENT=0 switches it off. Info `agent` says "on", or why not.
#pragma once

#include <atomic>

#include "interpose/ground/recorder/recorder.h"
#include "interpose/sight/agent/published_memory.h"
#include "interpose/sight/agent/running_steps.h"
#include "interpose/sight/python/python_stack.h"

namespace memtrace::agent {

namespace detail {

// Something is waiting for a pending call: the agent itself, or a module to be looked at.
extern std::atomic<bool> is_waiting;
extern thread_local constinit std::uint64_t last_root __attribute__((tls_model("initial-exec")));

void see_waiting(recorder& to) noexcept;
void see_other_root(recorder& to, std::uint64_t root) noexcept;
void see_published_free(std::uint64_t address) noexcept;

}  // namespace detail

// At every event of the allocator. A few ns where the outermost running module is the thread's
// last one.
inline void see_place(recorder& to, const python_stack::captured& here) noexcept {
  if (here.root != detail::last_root) [[unlikely]]
    detail::see_other_root(to, here.root);
  // At the very event that a new root is met: it may be the only one while that root runs.
  if (detail::is_waiting.load(std::memory_order_relaxed)) [[unlikely]]
    detail::see_waiting(to);
}

// At every event, before autograd::current_scope(): steps that an exception has ended are over.
inline void see_steps(recorder& to, const python_stack::captured& here) noexcept {
  if (running_steps() > here.steps) [[unlikely]]
    abandon_steps(to, here.steps);
}

// At every free of the allocator: parameters whose memory is freed have moved.
inline void see_free(std::uint64_t address) noexcept {
  if (the_published_memory.may_contain(address)) [[unlikely]]
    detail::see_published_free(address);
}

// No module is known there yet, and the parent's threads may have been in the middle of one.
void in_forked_child() noexcept;

// Records at the end that the agent never ran, if so.
void record_at_end(recorder& to) noexcept;

}  // namespace memtrace::agent
