// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interpose/sight/python/python_api.h"

namespace memtrace::python_stack {

// Whether a tracer or profiler of the program would see Python code of ours run in this thread,
// and count it. With the GIL.
[[nodiscard]] bool is_observed(const python_api& api);

}  // namespace memtrace::python_stack
