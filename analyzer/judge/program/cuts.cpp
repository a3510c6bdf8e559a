// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/cuts.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <string>

#include "analyzer/base/text/numbers.h"
#include "analyzer/judge/program/other_names.h"
#include "analyzer/judge/program/program_numbers.h"

namespace memtrace::verdicts {

namespace {

[[nodiscard]] const std::regex& joins() {
  static const std::regex call(R"(\b(?:cat|concat)\()");
  return call;
}

// From the last: -1, -2. From the first: 0, 1.
[[nodiscard]] std::optional<int> number_in(std::string text) {
  std::erase(text, ' ');
  const bool from_last = text.starts_with('-');
  const auto number = text::number_in(std::string_view(text).substr(from_last ? 1 : 0));
  if (!number || *number > 9) return std::nullopt;
  const auto value = static_cast<int>(*number);
  return from_last ? -value : value;
}

// 1 of "torch.cat([rows, x], 1)", "torch.cat((rows, x), dim=1)"; 0 where it says none.
[[nodiscard]] std::optional<int> dimension_joined(const std::string& code) {
  std::smatch found;
  if (!std::regex_search(code, found, joins())) return std::nullopt;
  const auto begin = static_cast<std::size_t>(found.position() + found.length());
  const auto arguments = arguments_at(code, begin);
  if (arguments.size() < 2) return 0;
  const auto& last = arguments[1];
  const auto equals = last.find('=');
  return number_in(equals == last.npos ? last : last.substr(equals + 1));
}

// 1 of "rows[:, -n:]", -2 of "rows[..., -n:, :]".
[[nodiscard]] std::optional<int> dimension_cut(const std::string& code) {
  static const std::regex part(
      fmt::format(R"(\[({})(?:-?\s*[\w.]+\s*:|:\s*-?\s*[\w.]+)({})\])", whole_before, whole_after));
  std::smatch found;
  if (!std::regex_search(code, found, part)) return std::nullopt;
  const auto before = found[1].str();
  const auto after = found[2].str();
  const auto commas = [](const std::string& text) {
    return static_cast<int>(std::ranges::count(text, ','));
  };
  if (after.find("...") != after.npos) return commas(before);
  return before.find("...") == before.npos ? commas(before) : -1 - commas(after);
}

}  // namespace

bool may_shorten(const std::string& cut, const std::string& join) {
  const auto joined = dimension_joined(join);
  const auto shorter = dimension_cut(cut);
  if (!joined || !shorter) return true;
  return (*joined < 0) != (*shorter < 0) || *joined == *shorter;
}

bool may_shorten(const program_text& program, const std::string& name, const std::string& cut) {
  // As one of several, not a list of them: torch.cat(rows, 1) makes no longer list.
  const std::regex member(R"(\b(?:cat|concat)\(\s*[\[(][^\])]*\b)" + name + R"(\b)");
  bool any = false;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const auto& code = program.at(i);
    if (code.find(name) == code.npos || !std::regex_search(code, member)) continue;
    if (may_shorten(cut, code)) return true;
    any = true;
  }
  return !any;
}

namespace {

// "n" of "max(0, end - n)", "max(len(rows) - n, 0)", "len(rows) - n", "rows.size(1) - n".
[[nodiscard]] std::optional<std::string> left_of(const std::string& start) {
  static const std::regex at_least_zero(
      R"(^max\(\s*(?:0\s*,\s*.*\s-\s*([\w.]+)|.*\s-\s*([\w.]+)\s*,\s*0)\s*\)$)");
  static const std::regex of_length(
      R"(^(?:len\([\w.\[\]]+\)|[\w.\[\]]+\.(?:shape\[-?\d\]|size\((?:dim=)?-?\d\)))(?:\s*[+-]\s*[\w.]+)*\s*-\s*([\w.]+)$)");
  static const std::regex or_zero(R"(^.*\s-\s*([\w.]+)\s+if\s.*\belse\s+0$)");
  std::smatch found;
  if (std::regex_match(start, found, or_zero)) return found[1].str();
  if (std::regex_match(start, found, at_least_zero))
    return found[1].matched ? found[1].str() : found[2].str();
  if (std::regex_match(start, found, of_length)) return found[1].str();
  return std::nullopt;
}

// What the variable was given last in its function, before the line.
[[nodiscard]] std::string given_to(const program_text& program, const std::string& name,
                                   std::size_t line) {
  const auto function = program.function_of(line);
  for (auto i = line; i-- > (function ? *function : 0);) {
    if (!program.names(i, name)) continue;
    auto value = assigned_to(name, program.at(i));
    // first = first if first > 0 else 0
    if (!value.empty() && value != name + " if " + name + " > 0 else 0") return value;
  }
  return {};
}

[[nodiscard]] bool is_name(const std::string& text) {
  static const std::regex name(R"(^[A-Za-z_]\w*$)");
  return std::regex_match(text, name);
}

// Of an index "first:end" what it leaves as "-n:"; of ":len(rows) - n", which goes, ":-n".
[[nodiscard]] std::string plain_index(const program_text& program, const std::string& index,
                                      std::size_t line) {
  const auto colon = index.find(':');
  if (colon == index.npos) return index;
  const auto trimmed = [](std::string text) {
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  const auto meant = [&](const std::string& bound) {
    const auto own = left_of(bound);
    return own || !is_name(bound) ? own : left_of(given_to(program, bound, line));
  };
  const auto start = trimmed(index.substr(0, colon));
  const auto end = trimmed(index.substr(colon + 1));
  if (!start.empty()) {
    const auto left = meant(start);
    return left ? "-" + *left + ":" : index;
  }
  const auto gone = left_of(end);
  return gone ? ":-" + *gone : index;
}

[[nodiscard]] std::size_t end_of_index(const std::string& code, std::size_t open) {
  int depth = 0;
  for (auto i = open; i < code.size(); ++i) {
    if (code[i] == '[' || code[i] == '(') ++depth;
    if ((code[i] == ']' || code[i] == ')') && --depth == 0) return i;
  }
  return code.npos;
}

// cache.narrow(1, cache.size(1) - n, n): cache[:, -n:]
[[nodiscard]] std::string with_plain_narrow(const std::string& code) {
  static const std::regex narrows(R"(\.narrow\()");
  std::smatch found;
  if (!std::regex_search(code, found, narrows)) return code;
  const auto begin = static_cast<std::size_t>(found.position() + found.length());
  const auto end = end_of_call(code, begin);
  const auto given = arguments_at(code, begin);
  if (given.size() != 3 || end == code.size()) return code;
  const bool from_last = given[0].starts_with('-');
  const auto number = text::number_in(std::string_view(given[0]).substr(from_last ? 1 : 0));
  const auto left = given[1] == "-" + given[2] ? std::optional(given[2]) : left_of(given[1]);
  if (!number || *number > 9 || !left || *left != given[2]) return code;
  std::string index = from_last ? "..., " : "";
  for (std::uint64_t i = 0; !from_last && i < *number; ++i) index += ":, ";
  index += "-" + given[2] + ":";
  for (std::uint64_t i = 1; from_last && i < *number; ++i) index += ", :";
  return code.substr(0, static_cast<std::size_t>(found.position())) + "[" + index + "]" +
         code.substr(end + 1);
}

}  // namespace

std::string with_plain_cuts(const program_text& program, std::size_t line) {
  auto code = with_plain_narrow(program.at(line));
  for (auto open = code.find('['); open != code.npos; open = code.find('[', open + 1)) {
    const auto end = end_of_index(code, open);
    if (end == code.npos) break;
    const auto inside = code.substr(open + 1, end - open - 1);
    if (inside.find(':') == inside.npos || inside.find(" for ") != inside.npos) continue;
    std::string made;
    for (const auto& part : parts_of(inside)) {
      made += (made.empty() ? "" : ", ") + plain_index(program, part, line);
    }
    code.replace(open + 1, inside.size(), made);
  }
  return code;
}

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
