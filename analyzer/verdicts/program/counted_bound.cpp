// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/program/counted_bound.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>

#include "analyzer/verdicts/program/key_domain.h"

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
  static const std::regex one_more(
      R"(^(?:([A-Za-z_]\w*)\s*\+\s*\d+$|(?:min\(|int\()?[(\s]*([A-Za-z_]\w*)\s*(?:\+\s*1\s*\)\s*)?//))");
  for (std::size_t i = 0; !falls && depth < most_names && i < program.size(); ++i) {
    if (!program.names(i, name)) continue;
    const auto value = assigned_to(name, program.at(i));
    std::smatch found;
    if (!std::regex_search(value, found, one_more)) continue;
    return direction_of(program, found[found[1].matched ? 1 : 2].str(), depth + 1);
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
      R"((?:^|[._])(?:steps|epochs|iters|iterations|batches|episodes|rounds)$)");
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

// if step + 1 in ends: …, where `ends` is written once, and nothing is put into it.
[[nodiscard]] bool is_one_of_few_steps(const program_text& program, const std::string& code) {
  static const std::regex one_of(
      R"(\bif\s+(?:.*\band\s+)?\(?([A-Za-z_][\w.]*)\s*(?:[+-]\s*\d+)?\)?\s+in\s+(?:\w+\.)*(\w+)\b(?!\s*[.(\[]))");
  static const std::regex written(R"(^(?:set|sorted|list|tuple|frozenset)?\(?\s*[\[{(])");
  std::smatch found;
  if (!std::regex_search(code, found, one_of)) return false;
  const auto way = direction_of(program, found[1].str());
  if (way != counts::up && way != counts::loop) return false;
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
                                      std::size_t line, std::uint64_t steps, std::uint64_t births) {
  static const std::regex differs(R"(([A-Za-z_][\w.]*)\s*(?:!=|>)\s*([A-Za-z_][\w.]*))");
  for (auto at = program.above(line); at; at = program.above(*at)) {
    if (program.begins(*at, {"def", "async def", "class"})) break;
    if (!program.begins(*at, {"if", "elif"})) continue;
    const auto& code = program.at(*at);
    if (code.find(" or ") != code.npos || code.find("not ") != code.npos) continue;
    for (const auto& [variable, sign, operand] : comparisons_of(code)) {
      if (!sign.starts_with('<') || ends_the_run(program, variable, operand)) continue;
      const auto way = direction_of(program, variable);
      if (way != counts::up && way != counts::loop) continue;
      const auto limit = numbers.value_of(operand);
      if (limit != 0 && (limit < 2 || limit <= steps)) continue;
      return counted_guard{{operand, *at}, limit != 0};
    }
    if (is_one_of_few_steps(program, code)) return counted_guard{{{}, *at}, false};
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
      const bool loops = program.begins(i, {"while"});
      if (loops && names_the_whole_run(operand)) continue;
      const bool puts = any_puts(body, container, !loops);
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
