// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/text/nearest.h"

#include <algorithm>
#include <vector>

namespace memtrace::text {

std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const auto replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

bool may_mean(std::string_view written, std::string_view known) {
  constexpr std::size_t longest = 64;  // of a name; what is longer is none
  if (written.size() > longest) return false;
  return edit_distance(written, known) * 3 <= std::max(written.size(), known.size()) + 1;
}

}  // namespace memtrace::text
