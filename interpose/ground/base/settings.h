// SPDX-License-Identifier: Apache-2.0
//
// The settings from the environment as it was when the process started: copied then, because
// programs change their environment and their working directory.
#pragma once

#include "memtrace/capabilities.h"

namespace memtrace::settings {

// Once, when the library is loaded.
void read() noexcept;

// Not MEMTRACE_DISABLE, and not a program that runs with more rights than its user.
[[nodiscard]] bool enabled() noexcept;
// MEMTRACE_OUTPUT as an absolute path, or the working directory at the start.
[[nodiscard]] const char* output_directory() noexcept;
// MEMTRACE, standard without it.
[[nodiscard]] recording_mode mode() noexcept;
// The value of MEMTRACE where it names no mode; else null.
[[nodiscard]] const char* mode_that_is_none() noexcept;
// By the mode, or by the capability's own variable.
[[nodiscard]] bool is_on(capability which) noexcept;
// MEMTRACE_LOG, empty when unset (see notice.h).
[[nodiscard]] const char* log() noexcept;

}  // namespace memtrace::settings
