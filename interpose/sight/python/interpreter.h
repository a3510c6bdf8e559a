// SPDX-License-Identifier: Apache-2.0
//
// The CPython of this process, found by name at run time: libmemtrace.so is linked to no Python,
// and works with executables that contain the interpreter as with a shared libpython.
#pragma once

#include "interpose/sight/python/layout.h"

namespace memtrace::python_stack {

struct interpreter {
  const layout* offsets = nullptr;
  address code_type = 0;  // PyCode_Type, …
  address text_type = 0;
  address bytes_type = 0;
  int (*is_initialized)() = nullptr;
  address (*this_thread)() = nullptr;  // PyGILState_GetThisThreadState
  char version[32] = {};               // "3.11.7", "" without Python

  // nullptr when this interpreter can be read, else the reason why not, as a sentence.
  const char* refusal = "not looked at";
};

[[nodiscard]] interpreter find_interpreter() noexcept;

// That of this process, looked for once.
[[nodiscard]] const interpreter& this_interpreter() noexcept;

// The address of an exported symbol of the process, or nullptr.
[[nodiscard]] void* find_symbol(const char* name) noexcept;

template <typename Function>
[[nodiscard]] Function find_function(const char* name) noexcept {
  return reinterpret_cast<Function>(find_symbol(name));
}

}  // namespace memtrace::python_stack
