// SPDX-License-Identifier: Apache-2.0
//
// MEMTRACE_SIM_LOG: one line for each thing the program asked for and the simulator does not have.
#pragma once

namespace memtrace::simulator {

// "KIND NAME", once per pair and process, e.g. ("unresolved", "cuFoo"). Thread-safe, never fails.
void log_call(const char* kind, const char* name);

}  // namespace memtrace::simulator
