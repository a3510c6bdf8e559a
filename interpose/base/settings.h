// SPDX-License-Identifier: Apache-2.0
//
// What the environment asked of memtrace when the process started: copied then, because programs
// change their environment and their working directory.
#pragma once

namespace memtrace::settings {

// Once, when the library is loaded.
void read() noexcept;

// Not MEMTRACE_DISABLE, and not a program that runs with more rights than its user.
[[nodiscard]] bool enabled() noexcept;
// MEMTRACE_OUTPUT as an absolute path, or the working directory at the start.
[[nodiscard]] const char* output_directory() noexcept;
// Not MEMTRACE_CENSUS=0.
[[nodiscard]] bool censuses() noexcept;
// Nor MEMTRACE_CENSUS_SIGNAL=0.
[[nodiscard]] bool listens_for_signal() noexcept;
// Not MEMTRACE_SAMPLING=0.
[[nodiscard]] bool samples() noexcept;
// MEMTRACE_CUPTI, not 0.
[[nodiscard]] bool second_witness() noexcept;
// MEMTRACE_NATIVE_STACKS is set, not to 0.
[[nodiscard]] bool native_stacks() noexcept;
// MEMTRACE_LOG, empty when unset (see notice.h).
[[nodiscard]] const char* log() noexcept;

}  // namespace memtrace::settings
