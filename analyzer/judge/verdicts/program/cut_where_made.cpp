// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/program/cut_where_made.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>
#include <string>

#include "analyzer/judge/verdicts/program/cut_dimension.h"
#include "analyzer/judge/verdicts/program/other_names.h"
#include "analyzer/judge/verdicts/program/program_numbers.h"

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

[[nodiscard]] std::size_t statement_at(const program_text& program, std::uint32_t line) {
  std::size_t at = line - std::size_t{1};
  while (at > 0 && program.at(at).empty()) --at;
  return at;
}

// [:, -n:], [..., :n, :]: what is left of a tensor along one dimension; n is the first or the
// second.
[[nodiscard]] const std::string& part_left() {
  static const std::string pattern =
      fmt::format(R"(\[{}(?:-\s*([\w.]+)\s*:|:\s*([\w.]+)){}\])", whole_before, whole_after);
  return pattern;
}

// Of "[one[-n:] for one in joined]" and "joined": "one".
[[nodiscard]] std::string name_of_each(const std::string& code, const std::string& all) {
  const std::regex goes_through(fmt::format(
      R"(\bfor\s+(?:\w+\s*,\s*)?\(?(\w+)[\w\s,()]*\bin\s+(?:(?:enumerate|zip)\()?{}\b)", all));
  std::smatch found;
  return std::regex_search(code, found, goes_through) ? found[1].str() : std::string();
}

[[nodiscard]] std::string length_left(const std::smatch& cut) {
  return cut[1].matched ? cut[1].str() : cut[2].str();
}

// torch.cat([memory, states], 0)[-self.length:]
[[nodiscard]] std::optional<std::string> cut_at_once(const std::string& code) {
  static const std::regex joins(R"(\b(?:cat|concat|hstack|vstack)\()");
  static const std::regex cut("^" + part_left());
  std::smatch found;
  if (!std::regex_search(code, found, joins)) return std::nullopt;
  const auto end = end_of_call(code, static_cast<std::size_t>(found.position() + found.length()));
  // [one[-n:] for one in [torch.cat([memory, states]) for …]]
  static const std::regex of_each(R"(^\W*\[(\w+)(\[.*\]).*\bfor\s+(\w+)\s+in\s+[\[(].*\bcat\()");
  std::smatch each, part;
  const auto begins = code.find("[");
  const auto rest_of = begins == code.npos ? std::string() : code.substr(begins);
  if (std::regex_search(rest_of, each, of_each) && each[1].str() == each[3].str()) {
    const auto cut_of = each[2].str();
    if (std::regex_search(cut_of, part, cut) && may_shorten(part[0].str(), code))
      return length_left(part);
  }
  const auto rest = code.substr(std::min(end + 1, code.size()));
  if (!std::regex_search(rest, found, cut) || !may_shorten(found[0].str(), code.substr(0, end)))
    return std::nullopt;
  return length_left(found);
}

}  // namespace

std::string made_longer_at(const program_text& program, std::uint32_t line) {
  if (line == 0 || line > program.size()) return {};
  return made_longer(program.at(statement_at(program, line)));
}

std::optional<shown_bound> owner_is_cut(const program_text& program, std::string_view variable) {
  for (auto dot = variable.rfind('.'); dot != variable.npos; dot = variable.rfind('.')) {
    variable = variable.substr(0, dot);
    const auto name = last_name(variable);
    if (name.empty() || name == "self") break;
    const std::regex cut(fmt::format(R"(\.{0}\s*=(?!=)\s*[\w.]*\.{0}{1}$)", name, part_left()));
    for (std::size_t i = 0; i < program.size(); ++i) {
      std::smatch found;
      if (!program.names(i, name) || !std::regex_search(program.at(i), found, cut)) continue;
      return shown_bound{length_left(found), 0, {}, static_cast<std::uint32_t>(i + 1)};
    }
  }
  return std::nullopt;
}

std::optional<length_cut> cut_where_made(const program_text& program, std::uint32_t line) {
  if (line == 0 || line > program.size()) return std::nullopt;
  const auto at = statement_at(program, line);
  const auto& made = program.at(at);
  if (auto left = cut_at_once(made)) return length_cut{std::move(*left), at, true};
  const auto function = program.function_of(at);
  const auto name = made_longer(made);
  if (!function || name.empty()) return std::nullopt;
  std::optional<length_cut> found;
  for (auto i = at + 1; i < program.end_of(*function); ++i) {
    if (!program.names(i, name) || !hands_on(program, i)) continue;
    const auto each = name_of_each(program.at(i), name);
    const auto& one = each.empty() ? name : each;
    const std::regex whole(fmt::format(R"((?:^|[^\w.]){}\b(?!\s*[\[.(])(?!.*\bin\b))", one));
    const std::regex part(fmt::format(R"((?:^|[^\w.]){}{})", one, part_left()));
    std::smatch cut;
    const bool is_cut = std::regex_search(program.at(i), cut, part);
    if (!(is_cut && !each.empty()) && std::regex_search(program.at(i), whole)) return std::nullopt;
    if (!is_cut) continue;
    if (!may_shorten(cut[0].str(), made)) return std::nullopt;
    found = length_cut{length_left(cut), i, false};
  }
  return found;
}

std::optional<shown_bound> cut_where_made(const program_text& program, std::uint32_t line,
                                          std::string_view numbers) {
  auto found = cut_where_made(program, line);
  if (!found) return std::nullopt;
  const program_numbers known(program, numbers);
  if (!found->at_once && known.value_of(found->left) < 2) return std::nullopt;
  return shown_bound{std::move(found->left), 0, {}, static_cast<std::uint32_t>(found->line + 1)};
}

}  // namespace memtrace::verdicts
