// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/counted_bound.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>

#include "analyzer/judge/program/key_domain.h"

namespace memtrace::verdicts {

namespace {

[[nodiscard]] bool any_puts(const std::vector<std::string>& body, const bound_effect& container,
                            bool by_calls = false) {
  return std::ranges::any_of(body, [&](const auto& one) {
    return container.makes_larger(one) || (by_calls && container.calls_for(one));
  });
}

// The other branch of the line's adds something, too; items[place] = x takes a place of before.
[[nodiscard]] bool is_put_beside(const program_text& program, const bound_effect& container,
                                 std::size_t line) {
  static const std::regex takes_a_place(R"(\]\s*=(?!=))");
  const auto next = program.end_of(line);
  if (next >= program.size() || !program.begins(next, {"else", "elif"})) return false;
  return std::ranges::any_of(program.body_of(next), [&](const std::string& one) {
    return container.makes_larger(one) && !std::regex_search(one, takes_a_place);
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
      R"(([A-Za-z_][\w.]*)(?:\s*\+\s*[^<>=]+?)?\s*(<=|<|>=|>|==)\s*(?=(len\([\w.]+\)|(?:[A-Za-z_][\w.]*|\d[\d_]*)(?:\s*[*+-]\s*(?:[A-Za-z_][\w.]*|\d[\d_]*))*)(?![\w(\[.])(?!\s*[(\[])))");
  std::vector<comparison> found;
  for (auto at = std::sregex_iterator(code.begin(), code.end(), compared);
       at != std::sregex_iterator(); ++at) {
    found.push_back({(*at)[1].str(), (*at)[2].str(), (*at)[3].str()});
  }
  return found;
}

// max_steps, settings.epochs; not warmup_steps.
[[nodiscard]] bool names_the_whole_run(const std::string& operand) {
  static const std::regex whole(
      R"((?:^|[._])(?:max|num|n)?(?:steps?|epochs?|iters?|iterations?|batches|episodes|rounds)$)");
  static const std::regex begins(R"((?:until|warm|start|grow|stop|burn|first|fill|init))");
  return std::regex_search(operand, whole) && !std::regex_search(operand, begins);
}

// range(1, settings.steps + 1), while done < steps: what the run itself goes through.
[[nodiscard]] bool ends_the_run(const program_text& program, const std::string& variable,
                                const std::string& operand) {
  if (names_the_whole_run(operand)) return true;
  const auto name = operand.substr(operand.rfind('.') + 1);
  const auto counted = variable.substr(variable.rfind('.') + 1);
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.begins(i, {"for", "while"})) continue;
    if (program.names(i, name) && program.names(i, counted)) return true;
  }
  return false;
}

// Times the steps of the run: an end that is farther off says nothing of it.
constexpr std::uint64_t far_off = 20;

// if at < len(rows): at += 1; add(rows[at])
[[nodiscard]] bool moves_under(const program_text& program, std::size_t line,
                               const std::string& variable) {
  const auto name = variable.substr(variable.rfind('.') + 1);
  const std::regex one_more(fmt::format(R"(\b{}\s*\+=)", name));
  const auto body = program.body_of(line);
  return std::ranges::any_of(body,
                             [&](const auto& one) { return std::regex_search(one, one_more); });
}

// if step + 1 in ends: …, where `ends` is written once, and nothing is put into it.
[[nodiscard]] bool is_one_of_few_steps(const program_text& program, const std::string& code) {
  static const std::regex one_of(
      R"(\bif\s+(?:.*\band\s+)?\(?([A-Za-z_][\w.]*)\s*(?:[+-]\s*\d+)?\)?\s+in\s+(?:\w+\.)*(\w+)\b(?!\s*[.(\[]))");
  static const std::regex written(R"(^(?:set|sorted|list|tuple|frozenset)?\(?\s*[\[{(])");
  std::smatch found;
  if (!std::regex_search(code, found, one_of)) return false;
  if (!rises(direction_of(program, found[1].str()))) return false;
  const auto name = found[2].str();
  const bound_effect them(program, name);
  bool is_written = false;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.names(i, name)) continue;
    if (them.puts_in(program.at(i))) return false;
    const auto value = assigned_to(name, program.at(i));
    is_written = is_written || std::regex_search(value, written);
  }
  return is_written;
}

}  // namespace

std::optional<counted_guard> guard_of(const program_text& program, const program_numbers& numbers,
                                      const bound_effect& container, std::size_t line,
                                      std::uint64_t steps, std::uint64_t births) {
  static const std::regex differs(R"(([A-Za-z_][\w.]*)\s*(?:!=|>)\s*([A-Za-z_][\w.]*))");
  for (auto at = program.above(line); at; at = program.above(*at)) {
    if (program.begins(*at, {"def", "async def", "class"})) break;
    if (!program.begins(*at, {"if", "elif"})) continue;
    const auto& code = program.at(*at);
    if (code.find(" or ") != code.npos || code.find("not ") != code.npos) continue;
    if (is_put_beside(program, container, *at)) continue;
    for (const auto& [variable, sign, operand] : comparisons_of(code)) {
      if (!sign.starts_with('<') || ends_the_run(program, variable, operand)) continue;
      const auto way = direction_of(program, variable);
      if (!rises(way)) continue;
      const auto limit = numbers.value_of(operand);
      const bool is_known = limit != 0;
      if (is_known && (limit < 2 || limit <= steps || limit > far_off * steps)) continue;
      // As long as each step adds to it nothing says that a number which nobody knows is near.
      const bool counts_these = moves_under(program, *at, variable);
      if (!is_known && !counts_these && 2 * births > steps) continue;
      return counted_guard{{operand, *at}, is_known};
    }
    if (2 * births <= steps && is_one_of_few_steps(program, code))
      return counted_guard{{{}, *at}, false};
    std::smatch other;
    if (!std::regex_search(code, other, differs)) continue;
    for (const auto& side : {other[1].str(), other[2].str()}) {
      const auto most = highest_of(program, numbers, side, *at);
      if (!most || (most->keys != 0 && most->keys < births)) continue;
      return counted_guard{{most->said_by, most->line}, most->keys != 0};
    }
  }
  return std::nullopt;
}

std::optional<counted_limit> counted_bound(const program_text& program,
                                           const program_numbers& numbers,
                                           const bound_effect& container, std::uint64_t steps,
                                           std::uint64_t length) {
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.begins(i, {"if", "elif", "while"})) continue;
    for (const auto& [variable, sign, operand] : comparisons_of(program.at(i))) {
      const auto way = direction_of(program, variable);
      if (way == direction::none) continue;
      const auto body = program.body_of(i);
      const bool first_round = sign == "==" && (operand == "0" || operand == "1");
      if (first_round) {
        const bool of_loops = way == direction::loop && program.loops_around(i) >= 2;
        if (of_loops && any_puts(body, container)) return counted_limit{{}, i};
        continue;
      }
      const bool below = sign.starts_with('<');
      if (way == direction::down) {
        if (!below && sign != "==" && any_puts(body, container)) return counted_limit{operand, i};
        continue;
      }
      const auto limit = numbers.value_of(operand);
      if (limit < 2) continue;
      const bool not_yet = steps == 0 || limit >= steps || (length != 0 && length <= limit);
      // The loop of the run itself, which calls for all that there is, bounds nothing.
      const bool loops = program.begins(i, {"while"});
      if (loops && names_the_whole_run(operand)) continue;
      const bool puts = any_puts(body, container, !loops) && !is_put_beside(program, container, i);
      const bool ends = below && not_yet && puts;
      const bool makes_room = !below && sign != "==" && way == direction::up &&
                              std::ranges::any_of(body, [&](const auto& one) {
                                return container.takes_out(one, 2) && !container.empties(one);
                              });
      if (ends || makes_room) return counted_limit{operand, i};
    }
  }
  return std::nullopt;
}

}  // namespace memtrace::verdicts
