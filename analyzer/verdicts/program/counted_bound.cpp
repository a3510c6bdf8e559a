// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/program/counted_bound.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>

namespace memtrace::verdicts {

namespace {

enum class counts : std::uint8_t { nothing, up, down, loop };

// How the program changes the variable.
[[nodiscard]] counts direction_of(const program_text& program, const std::string& variable,
                                  int depth = 0) {
  constexpr int most_names = 2;  // done = step + 1
  const auto name = variable.substr(variable.rfind('.') + 1);
  const std::regex up(fmt::format(R"(\b{0}\s*(?:\+=|=\s*[\w.]*\b{0}\s*\+))", name));
  const std::regex down(fmt::format(R"(\b{}\s*-=)", name));
  const std::regex loop(
      fmt::format(R"(^for\s+(?:[^=]*[\s,(])?{}\b.*\bin\s+(?:range|enumerate)\()", name));
  bool rises = false;
  bool falls = false;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.names(i, name)) continue;
    if (std::regex_search(program.at(i), loop)) return counts::loop;
    rises = rises || std::regex_search(program.at(i), up);
    falls = falls || std::regex_search(program.at(i), down);
  }
  if (rises) return counts::up;  // and down where elements go
  static const std::regex one_more(R"(^([A-Za-z_]\w*)\s*\+\s*\d+$)");
  for (std::size_t i = 0; !falls && depth < most_names && i < program.size(); ++i) {
    if (!program.names(i, name)) continue;
    const auto value = assigned_to(name, program.at(i));
    std::smatch found;
    if (!std::regex_match(value, found, one_more)) continue;
    return direction_of(program, found[1].str(), depth + 1);
  }
  return falls ? counts::down : counts::nothing;
}

[[nodiscard]] bool any_puts(const std::vector<std::string>& body, const bound_effect& container,
                            bool by_calls = false) {
  return std::ranges::any_of(body, [&](const auto& one) {
    return container.makes_larger(one) || (by_calls && container.calls_for(one));
  });
}

struct comparison {
  std::string variable;
  std::string sign;
  std::string operand;
};

// Of "if start <= step < 60 and money + price > budget:", from left to right.
[[nodiscard]] std::vector<comparison> comparisons_of(const std::string& code) {
  static const std::regex compared(
      R"(([A-Za-z_][\w.]*)(?:\s*\+\s*[^<>=]+?)?\s*(<=|<|>=|>|==)\s*(?=((?:[A-Za-z_][\w.]*|\d[\d_]*)(?:\s*[*+-]\s*(?:[A-Za-z_][\w.]*|\d[\d_]*))*)\b(?!\s*[(\[])))");
  std::vector<comparison> found;
  for (auto at = std::sregex_iterator(code.begin(), code.end(), compared);
       at != std::sregex_iterator(); ++at) {
    found.push_back({(*at)[1].str(), (*at)[2].str(), (*at)[3].str()});
  }
  return found;
}

}  // namespace

std::optional<counted_limit> counted_bound(const program_text& program,
                                           const program_numbers& numbers,
                                           const bound_effect& container, std::uint64_t steps,
                                           std::uint64_t length) {
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.begins(i, {"if", "elif", "while"})) continue;
    for (const auto& [variable, sign, operand] : comparisons_of(program.at(i))) {
      const auto way = direction_of(program, variable);
      if (way == counts::nothing) continue;
      const auto body = program.body_of(i);
      const bool first_round = sign == "==" && (operand == "0" || operand == "1");
      if (first_round) {
        const bool of_loops = way == counts::loop && program.loops_around(i) >= 2;
        if (of_loops && any_puts(body, container)) return counted_limit{{}, i};
        continue;
      }
      const bool below = sign.starts_with('<');
      if (way == counts::down) {
        if (!below && sign != "==" && any_puts(body, container)) return counted_limit{operand, i};
        continue;
      }
      const auto limit = numbers.value_of(operand);
      if (limit < 2) continue;
      const bool not_yet = steps == 0 || limit >= steps || (length != 0 && length <= limit);
      // The loop of the run itself, which calls for all that there is, bounds nothing.
      const bool puts = any_puts(body, container, !program.begins(i, {"while"}));
      const bool ends = below && not_yet && puts;
      const bool makes_room = !below && sign != "==" && way == counts::up &&
                              std::ranges::any_of(body, [&](const auto& one) {
                                return container.takes_out(one, 2) && !container.empties(one);
                              });
      if (ends || makes_room) return counted_limit{operand, i};
    }
  }
  return std::nullopt;
}

}  // namespace memtrace::verdicts
