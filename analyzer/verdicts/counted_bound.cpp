// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/counted_bound.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>

namespace memtrace::verdicts {

namespace {

enum class counts : std::uint8_t { nothing, up, down, loop };

// How the program changes the variable.
[[nodiscard]] counts direction_of(const program_text& program, const std::string& variable) {
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
  return falls ? counts::down : counts::nothing;
}

[[nodiscard]] bool any_puts(const std::vector<std::string>& body, const bound_effect& container) {
  return std::ranges::any_of(body, [&](const auto& one) { return container.makes_larger(one); });
}

}  // namespace

std::optional<counted_limit> counted_bound(const program_text& program,
                                           const program_numbers& numbers,
                                           const bound_effect& container, std::uint64_t steps) {
  static const std::regex compared(
      R"(^(?:if|elif|while)\s+(?:.*\b(?:and|not)\s+)?([A-Za-z_][\w.]*)(?:\s*\+\s*[^<>=]+?)?\s*(<=|<|>=|>|==)\s*([A-Za-z_][\w.]*|\d[\d_]*)\b(?!\s*[(\[]))");
  for (std::size_t i = 0; i < program.size(); ++i) {
    std::smatch found;
    if (!program.begins(i, {"if", "elif", "while"})) continue;
    if (!std::regex_search(program.at(i), found, compared)) continue;
    const auto variable = found[1].str();
    const auto sign = found[2].str();
    const auto operand = found[3].str();
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
    const bool ends = below && any_puts(body, container) && (steps == 0 || limit >= steps);
    const bool makes_room = !below && sign != "==" && way == counts::up &&
                            std::ranges::any_of(body, [&](const auto& one) {
                              return container.takes_out(one, 2) && !container.empties(one);
                            });
    if (ends || makes_room) return counted_limit{operand, i};
  }
  return std::nullopt;
}

}  // namespace memtrace::verdicts
