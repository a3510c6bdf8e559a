// SPDX-License-Identifier: Apache-2.0
//
// Parts of a text, as views of it.
#pragma once

#include <cstddef>
#include <string_view>

namespace memtrace::text {

// Without the white space around it.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// The last so many components of a path; all of it where it has no more: "nn/linear.py" are the last
// two of "/usr/lib/torch/nn/linear.py".
[[nodiscard]] constexpr std::string_view last_components(std::string_view path, unsigned count) {
  auto at = path.size();
  for (unsigned i = 0; i < count; ++i) {
    if (at == 0) return path;
    const auto slash = path.rfind('/', at - 1);
    if (slash == path.npos) return path;
    at = slash;
  }
  return path.substr(at + 1);
}

// "train.py" of "/srv/run/train.py".
[[nodiscard]] constexpr std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// The whole text: `*` stands for any letters, `?` for one (a byte), all others for themselves. Unlike
// fnmatch's, brackets do: names of what keeps memory have them.
[[nodiscard]] constexpr bool matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, i = 0;
  std::size_t star = pattern.npos, resume = 0;  // the last `*`, and where what it stands for ends
  while (at < text.size()) {
    if (i < pattern.size() && pattern[i] == '*') {
      star = i++;
      resume = at;
    } else if (i < pattern.size() && (pattern[i] == '?' || pattern[i] == text[at])) {
      ++i;
      ++at;
    } else if (star != pattern.npos) {
      i = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  while (i < pattern.size() && pattern[i] == '*') ++i;
  return i == pattern.size();
}

}  // namespace memtrace::text
