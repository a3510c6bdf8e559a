// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/cut_where_made.h"

#include <fmt/core.h>

#include <regex>
#include <string>

#include "analyzer/verdicts/program_numbers.h"

namespace memtrace::verdicts {

namespace {

// The variable that a line gives a longer tensor: "known" of "known = torch.cat([cache, x], 1)".
[[nodiscard]] std::string made_longer(const std::string& code) {
  static const std::regex joins(R"(^(\w+)\s*=(?!=).*\b(?:cat|concat|hstack|vstack|pad)\()");
  std::smatch found;
  return std::regex_search(code, found, joins) ? found[1].str() : std::string();
}

// What is still there when the function has ended.
[[nodiscard]] bool hands_on(const program_text& program, std::size_t line) {
  static const std::regex stores(
      R"(^self\.[\w.\[\]]+\s*=(?!=)|\]\s*=(?!=)|\.(?:append|add|put|update|extend)\()");
  return program.begins(line, {"return", "yield"}) || std::regex_search(program.at(line), stores);
}

}  // namespace

std::optional<shown_bound> cut_where_made(const program_text& program, std::uint32_t line,
                                          std::string_view numbers) {
  if (line == 0 || line > program.size()) return std::nullopt;
  std::size_t at = line - std::size_t{1};
  while (at > 0 && program.at(at).empty()) --at;
  const auto function = program.function_of(at);
  const auto name = made_longer(program.at(at));
  if (!function || name.empty()) return std::nullopt;
  const program_numbers known(program, numbers);
  const std::regex whole(fmt::format(R"((?:^|[^\w.]){}\b(?!\s*[\[.(]))", name));
  const std::regex part(fmt::format(
      R"((?:^|[^\w.]){}\[\s*(?:(?::|\.\.\.)\s*,\s*)*(?:-\s*([\w.]+)\s*:|:\s*([\w.]+))\s*(?:,\s*(?::|\.\.\.)\s*)*\])",
      name));
  std::optional<shown_bound> found;
  for (auto i = at + 1; i < program.end_of(*function); ++i) {
    if (!program.names(i, name) || !hands_on(program, i)) continue;
    if (std::regex_search(program.at(i), whole)) return std::nullopt;
    std::smatch cut;
    if (!std::regex_search(program.at(i), cut, part)) continue;
    const auto operand = cut[1].matched ? cut[1].str() : cut[2].str();
    if (known.value_of(operand) < 2) return std::nullopt;
    found = shown_bound{operand, 0, {}, static_cast<std::uint32_t>(i + 1)};
  }
  return found;
}

}  // namespace memtrace::verdicts
