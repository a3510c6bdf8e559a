// SPDX-License-Identifier: Apache-2.0
//
// The simulator's log: sentences for the user (warn, error), and details for whoever finds
// out why a program does not get through (info, debug, trace). MEMTRACE_LOG chooses:
// memtrace/log_setting.h. A message that nobody wants costs a load and a branch. One write a line
// and no lock, so that nothing is lost or mixed at an exit, an abort or a fork. Not for signal
// handlers.
#pragma once

#include <fmt/core.h>

#include <atomic>

#include "memtrace/log_setting.h"

namespace memtrace::simulator::log {

// Below it nothing is written; everything is until the setting was read, which the first does.
inline std::atomic<log_level> threshold{log_level::trace};

[[nodiscard]] inline bool wants(log_level level) {
  return level >= threshold.load(std::memory_order_relaxed);
}

void write(log_level level, fmt::string_view format, fmt::format_args arguments);

template <typename... Arguments>
void trace(fmt::format_string<Arguments...> format, const Arguments&... arguments) {
  if (wants(log_level::trace)) {
    write(log_level::trace, format, fmt::make_format_args(arguments...));
  }
}
template <typename... Arguments>
void debug(fmt::format_string<Arguments...> format, const Arguments&... arguments) {
  if (wants(log_level::debug)) {
    write(log_level::debug, format, fmt::make_format_args(arguments...));
  }
}
template <typename... Arguments>
void info(fmt::format_string<Arguments...> format, const Arguments&... arguments) {
  if (wants(log_level::info)) write(log_level::info, format, fmt::make_format_args(arguments...));
}
template <typename... Arguments>
void warn(fmt::format_string<Arguments...> format, const Arguments&... arguments) {
  if (wants(log_level::warn)) write(log_level::warn, format, fmt::make_format_args(arguments...));
}

// Ends the process with status 2, whatever the level: no run is better than one that is not what
// was asked for, but not without a word.
[[noreturn]] void fail(fmt::string_view format, fmt::format_args arguments);

template <typename... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> format, const Arguments&... arguments) {
  fail(format, fmt::make_format_args(arguments...));
}

}  // namespace memtrace::simulator::log
