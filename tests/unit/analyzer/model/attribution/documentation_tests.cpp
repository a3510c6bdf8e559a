// SPDX-License-Identifier: Apache-2.0
//
// docs/attribution.md lists the rules of the code: all, in their order, with their evidence.
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/model/attribution/rules.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/documents.h"

using namespace memtrace::attribution;

namespace {

struct documented {
  std::string name;
  std::string evidence;
};

// The rows of tables whose first cell is a name in backquotes: | `name` | category | evidence |
[[nodiscard]] std::vector<documented> documented_rules() {
  std::ifstream file(memtrace::tests::document("attribution.md"));
  std::vector<documented> found;
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view start = "| `";
    if (!line.starts_with(start)) continue;
    const auto end = line.find('`', start.size());
    const auto category = line.find('|', end);
    const auto evidence = line.find("| ", category + 1) + 2;
    found.push_back({line.substr(start.size(), end - start.size()),
                     line.substr(evidence, line.find_first_of(" |", evidence) - evidence)});
  }
  return found;
}

}  // namespace

TEST_CASE("GIVEN the documentation WHEN its rules are read THEN they are those of the code") {
  std::vector<documented> in_code;
  for (const auto rules : {told_rules(), origin_rules(), lifetime_rules()}) {
    for (const auto& one : rules) {
      in_code.push_back({std::string(one.name), std::string(name_of(one.how))});
    }
  }
  in_code.push_back({"held_after_backward", "inferred"});
  in_code.push_back({"same_place", "propagated"});
  const auto in_documentation = documented_rules();
  for (std::size_t i = 0; i < std::min(in_code.size(), in_documentation.size()); ++i) {
    CHECK(in_documentation[i].name == in_code[i].name);
    CHECK(in_documentation[i].evidence == in_code[i].evidence);
  }
  CHECK(in_documentation.size() == in_code.size());
}

TEST_CASE("GIVEN the documentation WHEN read THEN it has every category, phase and evidence") {
  std::ifstream file(memtrace::tests::document("attribution.md"));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto has_row = [&](std::string_view name) {
    CAPTURE(name);
    CHECK(text.find("\n| " + std::string(name) + " |") != std::string::npos);
  };
  for (std::size_t i = 0; i < category_count; ++i) has_row(name_of(static_cast<category>(i)));
  for (std::size_t i = 0; i < evidence_count; ++i) has_row(name_of(static_cast<evidence>(i)));
  for (std::size_t i = 0; i < phase_count; ++i) has_row(name_of(static_cast<phase>(i)));
}
