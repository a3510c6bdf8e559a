// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/text/utf8.h"

#include <fmt/core.h>
#include <utf8.h>

#include <iterator>

namespace memtrace::text {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

[[nodiscard]] bool is_valid(std::string_view text) {
  return utf8::find_invalid(text.begin(), text.end()) == text.end();
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  std::string room;
  out += '"';
  for (const char byte : repaired(text, room)) {
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += byte;
    } else if (static_cast<unsigned char>(byte) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    } else {
      out += byte;
    }
  }
  out += '"';
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto* const wrong = utf8::find_invalid(text.begin(), text.end());
    out.append(text.begin(), wrong);
    if (wrong == text.end()) break;
    // utf8::replace_invalid would write one character for several bytes.
    out += replacement;
    text = {wrong + 1, text.end()};
  }
  return out;
}

std::string_view repaired(std::string_view text, std::string& room) {
  if (is_valid(text)) return text;
  room = valid_utf8(text);
  return room;
}

std::string printable(std::string_view text) {
  auto out = valid_utf8(text);
  std::size_t end = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    // U+0080…U+009F are controls too: C2 80 … C2 9F.
    const bool is_long = byte == 0xc2 && static_cast<unsigned char>(out[i + 1]) < 0xa0;
    out[end++] = is_long || byte < 0x20 || byte == 0x7f ? '?' : out[i];
    if (is_long) ++i;
  }
  out.resize(end);
  return out;
}

}  // namespace memtrace::text
