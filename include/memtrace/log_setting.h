// SPDX-License-Identifier: Apache-2.0
//
// The log level that MEMTRACE_LOG asks for.
//
//   unset, empty   sentences for the user (warnings and errors), on standard error
//   quiet, off     nothing (but why the process ends, where memtrace ends it)
//   LEVEL          that and what is more severe, on standard error: error, warn, info, debug, trace
//   stderr         as debug
//   FILE           debug in that file, sentences on standard error as well
//   LEVEL:FILE     that level in the file; nothing below a warning on standard error
//
// A file that is called like a level is written ./debug.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memtrace {

enum class log_level : std::uint8_t { trace, debug, info, warn, error, off };

struct log_setting {
  log_level terminal = log_level::warn;  // on standard error
  log_level in_file = log_level::off;
  std::string_view file;  // empty: none
};

[[nodiscard]] constexpr std::optional<log_level> log_level_named(std::string_view word) {
  constexpr std::array<std::string_view, 6> names = {"trace", "debug", "info",
                                                     "warn",  "error", "off"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == word) return static_cast<log_level>(i);
  }
  if (word == "quiet") return log_level::off;
  if (word == "stderr") return log_level::debug;
  return std::nullopt;
}

[[nodiscard]] constexpr log_setting read_log_setting(std::string_view value) {
  if (value.empty()) return {};
  if (const auto level = log_level_named(value)) return {*level, log_level::off, {}};
  const std::size_t colon = value.find(':');
  const auto level = log_level_named(value.substr(0, colon));
  if (colon == value.npos || !level || colon + 1 == value.size()) {
    return {log_level::warn, log_level::debug, value};
  }
  return {*level > log_level::warn ? *level : log_level::warn, *level, value.substr(colon + 1)};
}

}  // namespace memtrace
