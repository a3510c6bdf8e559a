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

// The one number that lines of the file give the name: SLOTS = 14, def __init__(self, count=14).
[[nodiscard]] std::uint64_t value_in(const std::vector<std::string>& lines, std::string_view name) {
  const std::regex gives(
      fmt::format(R"((?:^|[\s(,.]){}\s*(?::\s*int\s*)?=\s*(\d[\d_]*)\s*(?=$|[,)#]))", name));
  std::uint64_t value = 0;
  for (const auto& line : lines) {
    std::smatch found;
    if (line.size() > longest_line || line.find(name) == std::string::npos) continue;
    if (!std::regex_search(line, found, gives)) continue;
    const auto one = value_of(found[1].str(), {});
    if (value != 0 && one != value) return 0;
    value = one;
  }
  return value;
}

// What a line says of how long the container gets.
enum class says : std::uint8_t {
  compares,             // its length: more may follow
  is_ring,              // it cannot hold more
  made_at_full_length,  // its length says nothing
};

struct line_pattern {
  std::string word;  // only lines that have it are searched
  std::regex text;
  says what = says::compares;
};

[[nodiscard]] std::vector<line_pattern> patterns_for(const std::string& name) {
  const std::string length = fmt::format(
      R"((?:len\(\s*[\w.\[\]'"]*\b{0}\s*\)|\b{0}\.(?:shape\[0\]|size\(0\)|qsize\(\))))", name);
  const std::string operand = R"(([A-Za-z_][\w.]*|\d[\d_]*)\b(?!\s*[(\[]))";
  const std::string compares = R"(\s*(?:<=|>=|==|<|>)\s*)";
  const std::string makes = fmt::format(R"(\b{}\s*(?::[^=]+)?=\s*)", name);
  return {
      {name, std::regex(length + compares + operand)},
      {name, std::regex("(?:^|[^\\w.])" + operand + compares + "[\\w.]*?" + length)},
      // A ring that is written to; all but the last dropped; made at its full length.
      {name,
       std::regex(fmt::format(R"(\b{}\[[^\]%]*%\s*)", name) + operand + R"([^\]]*\]\s*=(?!=))"),
       says::is_ring},
      {name,
       std::regex(
           fmt::format(R"(\b{0}\[[^\]%]*%\s*(len\(\s*[\w.]*\b{0}\s*\))\s*\]\s*=(?!=))", name)),
       says::is_ring},
      {name, std::regex(fmt::format(R"(\b{0}\s*=\s*[\w.]*\b{0}\[\s*-\s*)", name) + operand +
                        R"(\s*:\s*\])")},
      {name, std::regex(makes + R"(\[\s*None\s*\]\s*\*\s*)" + operand), says::made_at_full_length},
      {name,
       std::regex(makes + R"((?:dict\.fromkeys\(|[\[{].*\bNone\s+for\s+\w+\s+in\s+)range\(\s*)" +
                  operand),
       says::made_at_full_length}};
}

// items[slot] = …, where another line says slot = step % 14: the patterns of those lines.
[[nodiscard]] std::vector<line_pattern> patterns_of_index(const std::vector<std::string>& lines,
                                                          const std::string& name) {
  const std::regex written(fmt::format(R"(\b{}\[\s*([A-Za-z_]\w*)\s*\]\s*=(?!=))", name));
  const std::string operand = R"(([A-Za-z_][\w.]*|\d[\d_]*)\b(?!\s*[(\[]))";
  for (const auto& line : lines) {
    std::smatch found;
    if (line.size() > longest_line || line.find(name) == std::string::npos) continue;
    if (!std::regex_search(line, found, written)) continue;
    const auto index = found[1].str();
    return {
        {index,
         std::regex(fmt::format(R"((?:^|[\s,(]){}\s*:?=\s*[^=%]*%\s*)", index) + operand +
                    R"(\s*\)*\s*(?:$|;))"),
         says::is_ring},
        {index,
         std::regex(fmt::format(R"(,\s*{}\s*=\s*divmod\(.*,\s*)", index) + operand + R"(\s*\))"),
         says::is_ring}};
  }
  return {};
}

[[nodiscard]] std::uint64_t limit_of(const std::vector<std::string>& lines,
                                     const std::string& operand, std::string_view numbers) {
  const auto beside = value_of(operand, numbers);
  return beside != 0 ? beside : value_in(lines, operand.substr(operand.rfind('.') + 1));
}

[[nodiscard]] std::string without_comment(const std::string& line) {
  return line.substr(0, line.find('#'));
}

}  // namespace

std::optional<shown_bound> bound_in(const std::vector<std::string>& lines,
                                    const bounded_container& what) {
  const auto name = last_name(what.variable);
  if (name.empty()) return std::nullopt;
  const bool is_named = std::ranges::any_of(
      lines, [&](const std::string& line) { return line.find(name) != std::string::npos; });
  if (!is_named) return std::nullopt;
  auto patterns = patterns_for(name);
  const auto of_index = patterns_of_index(lines, name);
  patterns.insert(patterns.end(), of_index.begin(), of_index.end());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].size() > longest_line) continue;
    const auto text = without_comment(lines[i]);
    for (const auto& pattern : patterns) {
      std::smatch found;
      if (text.find(pattern.word) == std::string::npos) continue;
      if (!std::regex_search(text, found, pattern.text)) continue;
      const bool is_own_length = found[1].str().starts_with("len(");
      const auto limit =
          is_own_length ? what.length : limit_of(lines, found[1].str(), what.numbers);
      const bool is_preset = pattern.what == says::made_at_full_length;
      const auto held = is_preset ? what.blocks : what.length;
      const bool may_be_full = pattern.what != says::compares && what.length <= limit;
      if (limit < 2 || limit < held || (limit == held && !may_be_full)) continue;
      const bool is_number = std::isdigit(static_cast<unsigned char>(found[1].str()[0])) != 0;
      return shown_bound{
          is_number ? std::string() : found[1].str(), limit, {}, static_cast<std::uint32_t>(i + 1)};
    }
  }
  return std::nullopt;
}

}  // namespace memtrace::verdicts
