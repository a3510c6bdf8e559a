// SPDX-License-Identifier: Apache-2.0
//
// The Python call stack of the calling thread, as a number in the trace, without the GIL, CPython
// 3.9 to 3.15. Free-threaded builds, 3.16 and later, and an interpreter whose own answer differs
// from ours get no stacks, and one piece of news that says so.
//
//   hook ──► python_stack::capture(table) ──► stack_id          any thread, at every event
//        └─► python_stack::news()         ──► info + message    rarely: once it is known whether
//                                                               stacks are on, and why not
//
// Frames are those of PyTorch's own recorder (stacks="python"): file, co_name and line of every
// Python frame, innermost first; frames of C code and of calls that have not begun are not there.
//
// Threads: any; the GIL may be held or not. The caller must not hold the recorder's lock: a stack
// seen for the first time calls stack_table::intern(). Nothing here calls Python code, takes the
// GIL or touches a reference count inside capture(); the check against the interpreter runs from
// a pending call (see pending_call.h). Nothing throws.
//
// Cost of a stack that is known: a few ns and about 1 ns a frame.
#pragma once

#include "interpose/ground/recorder/stack_table.h"

namespace memtrace::python_stack {

// Frames deeper than this are left out, and the stack ends in a frame that says so
// (omitted_frames). Python's own default recursion limit is 1000.
inline constexpr unsigned max_depth = 1024;
inline constexpr char omitted_frames[] = "<outer frames omitted>";

// 0: the thread runs no Python, stacks are off, or the interpreter is going away.
// MEMTRACE_PYTHON_STACKS=0 switches stacks off, any other number is the depth.
[[nodiscard]] stack_id capture(stack_table& table) noexcept;

inline constexpr unsigned unknown_steps = ~0u;

// The stack, and the nn.Modules whose forward is running on it: addresses of the Python objects,
// 0 where none is.
struct captured {
  stack_id stack = 0;
  std::uint64_t module = 0;  // innermost
  std::uint64_t root = 0;    // outermost
  // How many calls of Optimizer.step are on the stack; unknown_steps before they are watched, and
  // where outer frames were left out.
  unsigned steps = unknown_steps;
};
[[nodiscard]] captured capture_place(stack_table& table) noexcept;

// From now on frames of this code object (of Module.__call__'s function) are calls of a module:
// that in the frame's variable number `slot`, or in the cell there. The code object must live until
// another is watched; 0: none. Until then no place has modules.
void watch_module_call(std::uint64_t code, unsigned slot, bool is_cell) noexcept;

// The same for calls of Optimizer.step.
void watch_step_call(std::uint64_t code) noexcept;

// The code of this file is left out of all stacks: what runs there runs for its caller.
inline constexpr char unshown_file[] = "<memtrace: chosen_values.py>";

// Whether stacks are on: known once the check has run.
enum class stacks : unsigned char { unknown, off, on };
[[nodiscard]] stacks state() noexcept;

// The value of info `python_stacks` when it has changed since the last call, else nullptr (one
// load): "on", or the reason why they are off or were switched off. To be recorded as info; when
// news_is_warning(), to be said and recorded as a message too. Ask at events and at the end. A
// table of another generation gets it once more. Bumps base/news.h when it becomes another.
[[nodiscard]] const char* news(std::uint32_t generation) noexcept;
[[nodiscard]] bool news_is_warning() noexcept;

// Like "3.11.7"; empty when the process has no Python. For info `python`.
[[nodiscard]] const char* interpreter_version() noexcept;
[[nodiscard]] inline bool is_in_process() noexcept {
  return interpreter_version()[0] != '\0';
}

}  // namespace memtrace::python_stack
