// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/scrub/free_text.h"

#include <cctype>

namespace memtrace::scrub {

namespace {

[[nodiscard]] bool is_of_path(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte >= 0x80 || std::isalnum(byte) != 0 ||
         std::string_view("/._-+@~%=#").find(letter) != std::string_view::npos;
}

}  // namespace

std::string_view next_path(std::string_view text, std::size_t from) {
  for (auto start = from; start < text.size();) {
    if (!is_of_path(text[start])) {
      ++start;
      continue;
    }
    auto end = start;
    while (end < text.size() && is_of_path(text[end])) ++end;
    // The sentence's own full stop.
    auto path = text.substr(start, end - start);
    while (path.ends_with('.')) path.remove_suffix(1);
    // "name=/data/x": what is before the first '=' is no part of it.
    if (const auto sign = path.find('='); sign < path.find('/')) path.remove_prefix(sign + 1);
    const auto slash = path.find('/');
    // "1/2", "and/or" and "train/forward" are no paths; neither is "/".
    const bool is_rooted = slash == 0 || path.starts_with("~") || path.starts_with(".");
    if (slash != path.npos && path.find_first_not_of('/', slash) != path.npos &&
        (is_rooted || path.ends_with(".py"))) {
      return path;
    }
    start = end;
  }
  return {};
}

}  // namespace memtrace::scrub
