// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/code/moved_lines.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>

namespace memtrace::code {

namespace {

// "backward of train.py:33 forward" without the number of the line.
[[nodiscard]] std::string without_line(const std::string& where) {
  std::string out;
  for (std::size_t i = 0; i < where.size(); ++i) {
    out += where[i];
    if (where[i] != ':') continue;
    while (i + 1 < where.size() && std::isdigit(static_cast<unsigned char>(where[i + 1])) != 0) ++i;
  }
  return out;
}

struct lines_of_function {
  std::vector<std::string> before, after;
};

// 9 before 10.
void order_by_number(std::vector<std::string>& lines) {
  std::ranges::sort(lines, [](const std::string& a, const std::string& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  });
}

}  // namespace

std::vector<std::pair<std::string, std::string>> pair_lines(std::vector<std::string> before,
                                                            std::vector<std::string> after) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::map<std::string, lines_of_function> unmatched;
  for (auto& line : before) {
    const auto same = std::ranges::find(after, line);
    if (same != after.end()) {
      after.erase(same);
      pairs.emplace_back(line, line);
    } else {
      unmatched[without_line(line)].before.push_back(std::move(line));
    }
  }
  for (auto& line : after) unmatched[without_line(line)].after.push_back(std::move(line));
  for (auto& [function, lines] : unmatched) {
    order_by_number(lines.before);
    order_by_number(lines.after);
    for (std::size_t i = 0; i < std::max(lines.before.size(), lines.after.size()); ++i) {
      pairs.emplace_back(i < lines.before.size() ? lines.before[i] : std::string(),
                         i < lines.after.size() ? lines.after[i] : std::string());
    }
  }
  return pairs;
}

}  // namespace memtrace::code
