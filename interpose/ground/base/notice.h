// SPDX-License-Identifier: Apache-2.0
//
// Messages while the program runs: one line a sentence, rarely, on the standard error
// that the process started with (never into another file that got its number).
//
// MEMTRACE_LOG chooses (memtrace/log_setting.h): a sentence is a warning, a diagnostic debug.
#pragma once

#include <string_view>

namespace memtrace::notice {

// Once, when the library is loaded.
void remember_standard_error() noexcept;

// For the user.
void say(std::string_view sentence) noexcept;

// For whoever looks into memtrace itself.
[[gnu::format(printf, 1, 2)]] void log(const char* format, ...) noexcept;

}  // namespace memtrace::notice
