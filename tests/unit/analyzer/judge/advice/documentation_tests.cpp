// SPDX-License-Identifier: Apache-2.0
//
// docs/advice.md lists the pieces of the code: all, in their order, with everything that is to be
// said of each.
#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/judge/advice/pieces.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/documents.h"

namespace {

[[nodiscard]] std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  for (std::size_t begin = row.find('|'); begin != row.npos;) {
    const auto end = row.find('|', begin + 1);
    if (end == row.npos) break;
    const auto text = row.substr(begin + 1, end - begin - 1);
    const auto first = text.find_first_not_of(' ');
    cells.push_back(first == text.npos
                        ? std::string()
                        : text.substr(first, text.find_last_not_of(' ') - first + 1));
    begin = end;
  }
  return cells;
}

[[nodiscard]] std::vector<std::vector<std::string>> documented() {
  std::ifstream file(memtrace::tests::document("advice.md"));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `")) rows.push_back(cells_of(line));
  }
  return rows;
}

}  // namespace

TEST_CASE("GIVEN the documentation WHEN its pieces are read THEN they are those of the code") {
#define MEMTRACE_NAME(name) "`" #name "`",
  constexpr std::array in_code = {MEMTRACE_ADVICE_PIECES(MEMTRACE_NAME)};
#undef MEMTRACE_NAME
  const auto rows = documented();
  REQUIRE(rows.size() == in_code.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(in_code[i]);
    REQUIRE(rows[i].size() == 6);
    CHECK(rows[i][0] == in_code[i]);
    CHECK(std::none_of(rows[i].begin(), rows[i].end(),
                       [](const std::string& cell) { return cell.empty(); }));
  }
}
