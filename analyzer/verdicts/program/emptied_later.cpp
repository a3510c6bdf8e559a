// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/program/emptied_later.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>

namespace memtrace::verdicts {

namespace {

constexpr int deepest = 3;  // functions that call functions

class search {
 public:
  search(const program_text& program, const program_numbers& numbers, const bound_effect& container,
         std::uint64_t steps, std::uint64_t length)
      : program_(program),
        numbers_(numbers),
        container_(container),
        so_far_(steps != 0 ? steps : length) {}

  // When the line is come to.
  [[nodiscard]] std::optional<emptying> when(std::size_t line, int depth) const {
    for (auto at = program_.above(line); at; at = program_.above(*at)) {
      if (program_.begins(*at, {"if", "elif"})) {
        if (numbers_.never_holds(program_.at(*at))) return std::nullopt;
        return by_condition(*at);
      }
      if (program_.begins(*at, {"else", "class", "except"})) return std::nullopt;
      if (program_.begins(*at, {"for", "while", "async for"})) return by_loop(*at, line);
      if (program_.begins(*at, {"def", "async def"})) return where_called(*at, depth);
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<emptying> after(const std::string& operand, std::size_t line) const {
    const auto steps = numbers_.value_of(operand);
    if (steps < 2 || steps < so_far_) return std::nullopt;
    const bool is_number = std::isdigit(static_cast<unsigned char>(operand.front())) != 0;
    return emptying{steps, is_number ? std::string() : operand, line};
  }

  [[nodiscard]] std::optional<emptying> by_condition(std::size_t line) const {
    static const std::regex remainder(
        R"(%\s*([A-Za-z_][\w.]*|\d[\d_]*)\s*\)*\s*(?:==|$|:|and|or))");
    static const std::regex reached(
        R"((?:==|>=|>)\s*([A-Za-z_][\w.]*|\d[\d_]*|len\([\w.]+\))\s*(?:$|:|\)|and|or))");
    static const std::regex asked(R"(([A-Za-z_]\w*)\(\s*\))");
    std::smatch found;
    const auto& code = program_.at(line);
    if (std::regex_search(code, found, remainder)) return after(found[1].str(), line);
    if (std::regex_search(code, found, reached)) return after(found[1].str(), line);
    if (!std::regex_search(code, found, asked)) return std::nullopt;
    const auto definition = program_.definition_of(found[1].str());
    if (!definition) return std::nullopt;
    for (auto i = *definition + 1; i < program_.end_of(*definition); ++i) {
      if (!program_.begins(i, {"return"})) continue;
      const auto& answer = program_.at(i);
      if (std::regex_search(answer, found, remainder)) return after(found[1].str(), i);
      if (std::regex_search(answer, found, reached)) return after(found[1].str(), i);
    }
    return std::nullopt;
  }

  // Emptied in each round of a loop, and filled in a loop within that.
  [[nodiscard]] std::optional<emptying> by_loop(std::size_t loop, std::size_t line) const {
    static const std::regex range(R"(\brange\(\s*([A-Za-z_][\w.]*|\d[\d_]*)\s*\))");
    for (auto i = loop + 1; i < program_.end_of(loop); ++i) {
      if (i == line || !container_.puts_in(program_.at(i))) continue;
      auto inner = program_.above(i);
      while (inner && *inner > loop && !program_.begins(*inner, {"for", "while"}))
        inner = program_.above(*inner);
      if (!inner || *inner <= loop) return std::nullopt;
      std::smatch found;
      if (!std::regex_search(program_.at(*inner), found, range)) return emptying{0, {}, line};
      if (numbers_.value_of(found[1].str()) == 0) return emptying{0, {}, line};
      return after(found[1].str(), line);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<emptying> where_called(std::size_t definition, int depth) const {
    static const std::regex named(R"(def\s+(\w+)\()");
    std::smatch found;
    if (depth == deepest || !std::regex_search(program_.at(definition), found, named))
      return std::nullopt;
    const auto name = found[1].str();
    if (name == "__init__" || name == "main") return std::nullopt;
    const std::regex call(fmt::format(R"(\b{}\()", name));
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (i == definition || !program_.names(i, name)) continue;
      if (program_.begins(i, {"def", "async def"})) continue;
      if (!std::regex_search(program_.at(i), call)) continue;
      if (program_.name_of_function(i) == "__init__" || program_.name_of_function(i) == name)
        continue;
      if (program_.begins(i, {"if", "elif"})) {
        if (auto later = by_condition(i)) return later;
        continue;
      }
      if (auto later = when(i, depth + 1)) return later;
    }
    return std::nullopt;
  }

  const program_text& program_;
  const program_numbers& numbers_;
  const bound_effect& container_;
  const std::uint64_t so_far_;
};

}  // namespace

std::optional<emptying> emptied_later(const program_text& program, const program_numbers& numbers,
                                      const bound_effect& container, std::uint64_t steps,
                                      std::uint64_t length) {
  const search in(program, numbers, container, steps, length);
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!container.empties(program.at(i))) continue;
    if (auto found = in.when(i, 0)) return found;
  }
  return std::nullopt;
}

}  // namespace memtrace::verdicts
