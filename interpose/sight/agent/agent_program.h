// SPDX-License-Identifier: Apache-2.0
//
// agent.py in this process: compiled once, then called. What is here but for the outcome needs the
// GIL, and is called by pending calls.
#pragma once

#include "interpose/sight/python/pending_call.h"

namespace memtrace::agent {

// Compiles and runs it. It has no outcome yet when the program's state forbids it for the moment.
[[nodiscard]] pending_call::outcome load_program(bool helper);

// Lets it look at the modules that root_watch wants, if they are still running.
[[nodiscard]] pending_call::outcome look_at_wanted(bool helper);

// The value of info `agent`, null while it is not known. Any thread.
[[nodiscard]] const char* program_outcome() noexcept;
void set_program_outcome(const char* text) noexcept;  // which stays
[[nodiscard]] bool is_program_loaded() noexcept;

}  // namespace memtrace::agent
