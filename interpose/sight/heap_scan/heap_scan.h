// SPDX-License-Identifier: Apache-2.0
//
// A heap scan of what keeps GPU memory alive: from names that a person knows (locals of running
// functions, globals, attributes, closures, hooks, an exception's traceback) through whatever
// Python's garbage collector can see, and through autograd's graphs, to every storage on a GPU.
//
//   names ─► breadth-first search through tp_traverse, natively ─► storages ─► records `held`
//
// It allocates no Python object, keeps no reference, runs no Python code of the program and
// changes no lifetime. Bounded in time and in memory: what a limit cuts off is told as
// format::census_incomplete. After two that were cut off in the user's own code there are no more
// (refusals.h, capability::heap scan); after one that was cut off beyond it the next may take five times
// as long, and where one has needed that, no more go there.
#pragma once

#include <cstdint>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::heap_scan {

struct limits {
  // For everything, by the clock on the wall, but for what the thread waits for a processor. Three
  // quarters are the search's.
  std::uint64_t nanoseconds = 100'000'000;
  std::uint64_t objects = 2'000'000;
  // On all devices, now: installed packages are searched, and what has no name, only while more of
  // it is missing than usual. 0: unknown, and they always are.
  std::uint64_t allocated = 0;
  // That have any of it. 0: unknown.
  unsigned devices = 0;
  // Of tensors, to be said: a text for each that occurs on a path.
  bool shapes = false;
};

// A search reads objects recursively and needs some tens of KiB; Python's threads may have 32.
[[nodiscard]] bool has_stack_left() noexcept;

struct outcome {
  std::uint64_t nanoseconds = 0;  // that it took, so counted; 0: there was none
  bool is_complete = false;
};

// Now, into `to`. The caller holds the GIL and is not inside an allocator's hook. Leaves Python's
// error indicator as it was. Does nothing before the agent has confirmed PyTorch's layout
// (autograd/tensor_layout.h), or where little is left of the thread's stack.
outcome take(recorder& to, format::census_reason why, const limits& at_most = {}) noexcept;

}  // namespace memtrace::heap_scan
