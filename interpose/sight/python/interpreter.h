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
  address (*this_thread)() = nullptr;  // PyGILState_GetThisThreadState
  char version[32] = {};               // "3.11.7", "" without Python

  // Whether there is an interpreter that may be called. Everything that a hook reaches and that
  // calls CPython asks this first, because hooks run before Py_Initialize and after Py_FinalizeEx
  // too: destructors of threads and of static objects free memory of the GPU. False from the
  // beginning of finalisation on, when the states of other threads are freed under them.
  [[nodiscard]] bool may_be_called() const noexcept { return is_initialized() != 0; }

  // Puts a call into the interpreter's queue: needs no GIL. False where the queue is full, or no
  // interpreter may be called.
  [[nodiscard]] bool queue(int (*call)(void*), void* argument) const noexcept {
    return can_be_waited_for() && add_pending_call(call, argument) == 0;
  }
  // Waits for the GIL and calls the body with it. False where no interpreter may be called.
  // PyGILState_Ensure ends a thread by unwinding it when the interpreter is going away: hence no
  // noexcept, and callers have nothing to destroy.
  template <typename Body>
  bool with_gil(Body body) const {
    if (!can_be_waited_for()) return false;
    const int previous = ensure_gil();
    body();
    release_gil(previous);
    return true;
  }
  [[nodiscard]] bool this_thread_has_gil() const noexcept {
    return may_be_called() && check_gil != nullptr && check_gil() != 0;
  }
  // In its main interpreter, where the agent runs. With the GIL.
  [[nodiscard]] bool is_in_main() const noexcept {
    return may_be_called() && current != nullptr && main != nullptr && current() == main();
  }
  [[nodiscard]] bool can_be_waited_for() const noexcept {
    return add_pending_call != nullptr && ensure_gil != nullptr && release_gil != nullptr &&
           may_be_called();
  }

  // Py_IsInitialized and others that are called through the functions above only.
  int (*is_initialized)() = [] { return 0; };
  int (*add_pending_call)(int (*)(void*), void*) = nullptr;
  int (*ensure_gil)() = nullptr;  // returns PyGILState_STATE, an enum
  void (*release_gil)(int) = nullptr;
  int (*check_gil)() = nullptr;
  void* (*current)() = nullptr;
  void* (*main)() = nullptr;

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

enum class verdict : std::uint8_t {
  agrees,
  differs,
  not_run,             // the thread is traced or profiled, or there was no room for the check
  not_run_and_raised,  // an exception of the program's own is set
};

// Compares the stacks that we read with the interpreter's own answer (self_check.cpp). With the GIL
// held. Runs Python code. May end the thread by unwinding it when the interpreter is going away;
// otherwise throws nothing.
[[nodiscard]] verdict check_against_interpreter(const interpreter& python);

}  // namespace memtrace::python_stack
