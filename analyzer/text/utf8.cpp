// SPDX-License-Identifier: Apache-2.0
#include "analyzer/text/utf8.h"

#include <fmt/core.h>

#include <cstddef>
#include <iterator>

namespace memtrace::text {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

// Length of the UTF-8 sequence at the start of `text`, 0 if it is none (RFC 3629: no overlong
// forms, no surrogates, nothing above U+10FFFF).
[[nodiscard]] std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (at(i) & 0xc0) == 0x80; };
  const auto first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (first == 0xe0 && at(1) < 0xa0) return 0;
    if (first == 0xed && at(1) > 0x9f) return 0;
    return continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (first == 0xf0 && at(1) < 0x90) return 0;
    if (first == 0xf4 && at(1) > 0x8f) return 0;
    return continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

template <class Function>
void for_each_character(std::string_view text, Function&& function) {
  while (!text.empty()) {
    const auto length = sequence_length(text);
    function(length == 0 ? replacement : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

[[nodiscard]] bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  // U+0080…U+009F are controls too: C2 80 … C2 9F.
  return first < 0x20 || first == 0x7f ||
         (first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for_each_character(text, [&](std::string_view character) {
    const char first = character[0];
    if (first == '"' || first == '\\') {
      out += '\\';
      out += first;
    } else if (static_cast<unsigned char>(first) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", first);
    } else {
      out += character;
    }
  });
  out += '"';
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](std::string_view character) { out += character; });
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](std::string_view character) {
    if (is_control(character)) {
      out += '?';
    } else {
      out += character;
    }
  });
  return out;
}

}  // namespace memtrace::text
