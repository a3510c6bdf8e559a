// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/program/cut_dimension.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "analyzer/base/text/numbers.h"

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

}  // namespace memtrace::verdicts
