// SPDX-License-Identifier: Apache-2.0
//
// Modules and functions that are running in any thread of the main interpreter. All need the GIL:
// whoever holds it may read the frames of every thread, because a thread changes its frames only
// with the GIL.
#pragma once

#include "interpose/sight/python/module_call.h"
#include "interpose/sight/python/python_api.h"

namespace memtrace::python_stack {

// The module at this address if a frame of a thread is running it (see watch_module_call()), as a
// new reference, or null.
[[nodiscard]] py find_running_module(const python_api& api, address module) noexcept;

// Whether a frame of a thread runs this code object.
[[nodiscard]] bool is_running(const python_api& api, address code) noexcept;

// The `self` in the frame of the calling thread's innermost Python function, if that is
// held as in `call`.
[[nodiscard]] address self_of_this_function(module_call call) noexcept;

}  // namespace memtrace::python_stack
