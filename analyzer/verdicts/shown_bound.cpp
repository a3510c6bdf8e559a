// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/shown_bound.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <regex>

#include "analyzer/text/numbers.h"

namespace memtrace::verdicts {

namespace {

constexpr std::size_t longest_line = 400;  // std::regex recurses

// "items" of "memory.items" and of "seen['a']": what a line must name.
[[nodiscard]] std::string last_name(std::string_view variable) {
  variable = variable.substr(0, variable.find('['));
  const auto dot = variable.rfind('.');
  std::string name(dot == variable.npos ? variable : variable.substr(dot + 1));
  const bool plain = std::ranges::all_of(
      name, [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; });
  return plain ? name : std::string();
}

[[nodiscard]] std::uint64_t value_of(std::string_view operand, std::string_view numbers) {
  std::string digits(operand);
  std::erase(digits, '_');
  if (const auto number = text::number_in(digits)) return *number;
  const auto name = operand.substr(operand.rfind('.') + 1);  // npos + 1 is 0
  while (!numbers.empty()) {
    const auto end = std::min(numbers.find(','), numbers.size());
    const auto one = numbers.substr(0, end);
    const auto equals = one.find('=');
    if (equals != one.npos && one.substr(0, equals) == name) {
      return text::number_in(one.substr(equals + 1)).value_or(0);
    }
    numbers.remove_prefix(std::min(end + 1, numbers.size()));
  }
  return 0;
}

struct line_pattern {
  std::regex text;
  bool made_at_full_length = false;  // its length says nothing
};

[[nodiscard]] std::vector<line_pattern> patterns_for(const std::string& name) {
  const std::string length = fmt::format(
      R"((?:len\(\s*[\w.\[\]'"]*\b{0}\s*\)|\b{0}\.(?:shape\[0\]|size\(0\)|qsize\(\))))", name);
  const std::string operand = R"(([A-Za-z_][\w.]*|\d[\d_]*)\b(?!\s*[(\[]))";
  const std::string compares = R"(\s*(?:<=|>=|==|<|>)\s*)";
  return {
      {std::regex(length + compares + operand)},
      {std::regex("(?:^|[^\\w.])" + operand + compares + "[\\w.]*?" + length)},
      // A ring that is written to; all but the last dropped; made at its full length.
      {std::regex(fmt::format(R"(\b{}\[[^\]%]*%\s*)", name) + operand + R"([^\]]*\]\s*=(?!=))")},
      {std::regex(fmt::format(R"(\b{0}\s*=\s*[\w.]*\b{0}\[\s*-\s*)", name) + operand +
                  R"(\s*:\s*\])")},
      {std::regex(fmt::format(R"(\b{}\s*=\s*\[\s*None\s*\]\s*\*\s*)", name) + operand), true}};
}

[[nodiscard]] std::string without_comment(const std::string& line) {
  return line.substr(0, line.find('#'));
}

}  // namespace

std::optional<shown_bound> bound_in(const std::vector<std::string>& lines,
                                    const bounded_container& what) {
  const auto name = last_name(what.variable);
  if (name.empty()) return std::nullopt;
  std::vector<line_pattern> patterns;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].size() > longest_line || lines[i].find(name) == std::string::npos) continue;
    if (patterns.empty()) patterns = patterns_for(name);
    const auto text = without_comment(lines[i]);
    for (const auto& pattern : patterns) {
      std::smatch found;
      if (!std::regex_search(text, found, pattern.text)) continue;
      const auto limit = value_of(found[1].str(), what.numbers);
      const auto held = pattern.made_at_full_length ? what.blocks : what.length;
      if (limit < 2 || limit <= held) continue;
      const bool is_number = std::isdigit(static_cast<unsigned char>(found[1].str()[0])) != 0;
      return shown_bound{
          is_number ? std::string() : found[1].str(), limit, {}, static_cast<std::uint32_t>(i + 1)};
    }
  }
  return std::nullopt;
}

}  // namespace memtrace::verdicts
