// SPDX-License-Identifier: Apache-2.0
//
// What the prover says of one program in many forms. Each line of the input is a question, each line
// of the output its answer:
//
//   {"source": "import torch\n…", "question": {"variable": "self.items", "owner": "local of main", …}}
//   {"answer": "bounded", "kind": "length", "value": 40, "line": 12, "expression": "…", …}
//   {"answer": "doubt", "kind": "taken_out", "line": 20, "expression": "…", …}
//   {"answer": "open", …}
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzer/judge/program/prove.h"

namespace {

using json = nlohmann::json;
using namespace memtrace::program;

[[nodiscard]] question question_of(const json& given) {
  question made;
  made.variable = given.at("variable").get<std::string>();
  made.owner = given.value("owner", "");
  made.owner_line = given.value("owner_line", 0U);
  made.holder = given.value("holder", "");
  made.container = given.value("container", "");
  made.length = given.value("length", std::uint64_t{0});
  made.numbers = given.value("numbers", "");
  made.in_elements = given.value("in_elements", false);
  made.by_graph = given.value("by_graph", false);
  made.steps = given.value("steps", std::uint64_t{0});
  made.times = given.value("times", std::uint64_t{0});
  made.running = given.value("running", std::vector<std::uint32_t>());
  return made;
}

[[nodiscard]] json json_of(const answer& found) {
  json made = {{"answer", "open"},
               {"is_seen", found.is_seen},
               {"reallocated", found.reallocated},
               {"made_of_itself", found.made_of_itself}};
  if (found.proof) {
    made["answer"] = "bounded";
    made["kind"] = name_of(found.proof->kind);
    made["value"] = found.proof->value;
    made["line"] = found.proof->line;
    made["expression"] = found.proof->expression;
  } else if (found.why) {
    made["answer"] = "doubt";
    made["kind"] = name_of(found.why->kind);
    made["line"] = found.why->line;
    made["expression"] = found.why->expression;
  }
  return made;
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto given = json::parse(line);
    const source_file file(given.at("source").get<std::string>());
    std::cout << json_of(prove(file, "program.py", question_of(given.at("question")))).dump()
              << '\n';
  }
  return 0;
}
