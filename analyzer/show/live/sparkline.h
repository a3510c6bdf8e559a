// SPDX-License-Identifier: Apache-2.0
//
// A series in one line of text: a character a value, from the least to the greatest.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace memtrace::live {

// Without Unicode: by characters of ASCII that look higher and higher.
[[nodiscard]] inline std::string sparkline(const std::vector<std::uint64_t>& values, bool unicode) {
  constexpr std::array high = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array plain = {"_", ".", "-", "~", "=", "+", "*", "#"};
  std::string line;
  if (values.empty()) return line;
  const auto [least, most] = std::ranges::minmax(values);
  for (const auto value : values) {
    const auto share = most == least
                           ? 0.0
                           : static_cast<double>(value - least) / static_cast<double>(most - least);
    const auto level =
        std::min<std::size_t>(high.size() - 1, static_cast<std::size_t>(share * high.size()));
    line += unicode ? high[level] : plain[level];
  }
  return line;
}

}  // namespace memtrace::live
