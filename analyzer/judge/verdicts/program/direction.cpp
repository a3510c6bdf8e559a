// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/program/direction.h"

#include <fmt/core.h>

#include <regex>

namespace memtrace::verdicts {

namespace {

[[nodiscard]] direction found_for(const program_text& program, const std::string& variable,
                                  int depth) {
  constexpr int most_names = 2;  // done = step + 1
  const auto name = variable.substr(variable.rfind('.') + 1);
  const std::regex up(fmt::format(R"(\b{0}\s*(?:\+=|=\s*[\w.]*\b{0}\s*\+))", name));
  const std::regex down(fmt::format(R"(\b{}\s*-=)", name));
  // Of an enumeration the first alone is a number.
  const std::regex loop(fmt::format(
      R"(^for\s+(?:(?:[^=]*[\s,(])?{0}\b.*\bin\s+range|\(?{0}\b.*\bin\s+enumerate)\()", name));
  bool goes_up = false;
  bool falls = false;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.names(i, name)) continue;
    if (std::regex_search(program.at(i), loop)) return direction::loop;
    goes_up = goes_up || std::regex_search(program.at(i), up);
    falls = falls || std::regex_search(program.at(i), down);
  }
  if (goes_up) return direction::up;  // and down where elements go
  static const std::regex one_more(
      R"(^(?:([A-Za-z_]\w*)\s*\+\s*\d+$|(?:min\(|int\()?[(\s]*([A-Za-z_]\w*)\s*(?:\+\s*1\s*\)\s*)?//))");
  for (std::size_t i = 0; !falls && depth < most_names && i < program.size(); ++i) {
    if (!program.names(i, name)) continue;
    const auto value = assigned_to(name, program.at(i));
    std::smatch found;
    if (!std::regex_search(value, found, one_more)) continue;
    return found_for(program, found[found[1].matched ? 1 : 2].str(), depth + 1);
  }
  return falls ? direction::down : direction::none;
}

}  // namespace

direction direction_of(const program_text& program, const std::string& variable) {
  return found_for(program, variable, 0);
}

}  // namespace memtrace::verdicts
