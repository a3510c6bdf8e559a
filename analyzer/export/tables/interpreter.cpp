// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables/interpreter.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace memtrace::tables {

std::string interpreter() {
  const char* const chosen = std::getenv("MEMTRACE_PYTHON");
  return chosen == nullptr || *chosen == '\0' ? "python3" : chosen;
}

std::vector<std::string> unrecorded_environment() {
  std::vector<std::string> made = {"MEMTRACE_DISABLE=1"};
  for (char** one = environ; *one != nullptr; ++one) {
    if (!std::string_view(*one).starts_with("LD_PRELOAD=")) made.emplace_back(*one);
  }
  return made;
}

std::vector<char*> pointers(std::vector<std::string>& of) {
  std::vector<char*> made;
  for (auto& one : of) made.push_back(one.data());
  made.push_back(nullptr);
  return made;
}

}  // namespace memtrace::tables
