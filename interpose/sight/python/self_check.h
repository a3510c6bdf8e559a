// SPDX-License-Identifier: Apache-2.0
//
// Compares the stacks that we read with the interpreter's own answer: code object, instruction,
// file, function, line and depth of every frame, in the situations of self_check.py.
#pragma once

#include "interpose/sight/python/interpreter.h"

namespace memtrace::python_stack {

enum class verdict : std::uint8_t {
  agrees,
  differs,
  not_run,             // the thread is traced or profiled, or there was no room for the check
  not_run_and_raised,  // an exception of the program's own is set
};

// With the GIL held. Runs Python code. May end the thread by unwinding it when the interpreter is
// going away; otherwise throws nothing.
[[nodiscard]] verdict check_against_interpreter(const interpreter& python);

}  // namespace memtrace::python_stack
