// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/program/plain_cut.h"

#include <algorithm>
#include <optional>
#include <regex>

#include "analyzer/base/text/numbers.h"

namespace memtrace::verdicts {

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

}  // namespace memtrace::verdicts
