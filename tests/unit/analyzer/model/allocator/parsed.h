// SPDX-License-Identifier: Apache-2.0
//
// A configuration as a test asks for it: settings, or the words of the refusal.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/model/allocator/settings.h"
#include "tests/unit/catch.h"

namespace memtrace::allocator {

[[nodiscard]] inline settings accepted(std::string_view text, std::string_view version = "2.11.0") {
  const auto read = parse_settings(text, version);
  INFO(text);
  if (const auto* const why = std::get_if<refusal>(&read)) FAIL(why->what);
  return std::get<settings>(read);
}

[[nodiscard]] inline std::string refused_with(std::string_view text,
                                              std::string_view version = "2.11.0") {
  const auto read = parse_settings(text, version);
  INFO(text);
  REQUIRE(std::holds_alternative<refusal>(read));
  return std::get<refusal>(read).what;
}

[[nodiscard]] inline settings changed(const settings& before, std::string_view text,
                                      std::string_view version = "2.11.0") {
  const auto read = change_settings(before, text, version);
  INFO(text);
  REQUIRE(std::holds_alternative<settings>(read));
  return std::get<settings>(read);
}

}  // namespace memtrace::allocator
