// SPDX-License-Identifier: Apache-2.0
//
// The command's messages on standard error: sentences for the user (warn, error), and how it goes
// about it for whoever wants to know (info, debug). --log-level or -v chooses, else MEMTRACE_LOG
// (memtrace/log_setting.h); errors are told under `quiet`, too: the exit status alone says too
// little. Every line is written at once, so that none is lost at an exit.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "memtrace/log_setting.h"

namespace memtrace::cli::log {

// Before the first message; empty: as MEMTRACE_LOG says. A file that cannot be opened is told once.
void start(std::string_view level);

[[nodiscard]] bool wants(log_level level);

// One line, "memtrace: …"; control characters in it are shown as '?'.
void write(log_level level, const std::string& text);

template <typename... Arguments>
void debug(fmt::format_string<Arguments...> format, const Arguments&... arguments) {
  if (wants(log_level::debug)) {
    write(log_level::debug, fmt::vformat(format, fmt::make_format_args(arguments...)));
  }
}
template <typename... Arguments>
void info(fmt::format_string<Arguments...> format, const Arguments&... arguments) {
  if (wants(log_level::info)) {
    write(log_level::info, fmt::vformat(format, fmt::make_format_args(arguments...)));
  }
}
// A sentence for the user that is no complaint.
template <typename... Arguments>
void note(fmt::format_string<Arguments...> format, const Arguments&... arguments) {
  if (wants(log_level::warn)) {
    write(log_level::warn, fmt::vformat(format, fmt::make_format_args(arguments...)));
  }
}
template <typename... Arguments>
void warn(fmt::format_string<Arguments...> format, const Arguments&... arguments) {
  if (wants(log_level::warn)) {
    write(log_level::warn, fmt::vformat(format, fmt::make_format_args(arguments...)));
  }
}
template <typename... Arguments>
void error(fmt::format_string<Arguments...> format, const Arguments&... arguments) {
  if (wants(log_level::error)) {
    write(log_level::error, fmt::vformat(format, fmt::make_format_args(arguments...)));
  }
}

}  // namespace memtrace::cli::log
