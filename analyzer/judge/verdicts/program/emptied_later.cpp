// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/program/emptied_later.h"

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
    if (const auto guard = program_.left_before(line)) {
      if (auto later = by_denied_condition(*guard)) return later;
    }
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

  // if self.count < self.size: return
  [[nodiscard]] std::optional<emptying> by_denied_condition(std::size_t line) const {
    static const std::regex not_reached(
        R"((?:<=|<|!=)\s*([A-Za-z_][\w.]*|\d[\d_]*|len\([\w.]+\))\s*:)");
    static const std::regex remainder(
        R"(%\s*([A-Za-z_][\w.]*|\d[\d_]*)\s*\)*\s*(?:!=\s*0\s*|>\s*0\s*)?:)");
    std::smatch found;
    const auto& code = program_.at(line);
    if (code.find(" or ") != code.npos) return std::nullopt;
    if (std::regex_search(code, found, remainder)) return after(found[1].str(), line);
    if (std::regex_search(code, found, not_reached)) return after(found[1].str(), line);
    return std::nullopt;
  }

  // for epoch in range(epochs), where epochs is 1, or is unless the command line says another.
  [[nodiscard]] bool goes_round_once(std::size_t loop) const {
    static const std::regex rounds(
        R"(\brange\(\s*(?:0\s*,\s*)?([\w.]+)\s*\)|\brange\(\s*1\s*,\s*([\w.]+)\s*\+\s*1\s*\))");
    std::smatch found;
    if (!std::regex_search(program_.at(loop), found, rounds)) return false;
    const auto operand = found[found[1].matched ? 1 : 2].str();
    if (const auto value = numbers_.value_of(operand); value != 0) return value == 1;
    return is_one_by_default(operand.substr(operand.rfind('.') + 1)) ||
           is_handed_one(loop, operand);
  }

  // fit(model, batches, 1), where the function calls it epochs.
  [[nodiscard]] bool is_handed_one(std::size_t line, const std::string& name) const {
    const auto definition = program_.function_of(line);
    const auto function = program_.name_of_function(line);
    if (!definition || function.empty()) return false;
    const auto parameters = parameters_of(program_.at(*definition));
    const auto place = std::ranges::find(parameters, name);
    if (place == parameters.end()) return false;
    const auto at = static_cast<std::size_t>(place - parameters.begin());
    const std::regex call(fmt::format(R"(\b{}\()", function));
    bool is_one = false;
    for (std::size_t i = 0; i < program_.size(); ++i) {
      std::smatch found;
      const auto& code = program_.at(i);
      if (i == *definition || !std::regex_search(code, found, call)) continue;
      const auto begin = static_cast<std::size_t>(found.position() + found.length());
      const auto given = arguments_at(code, begin);
      if (at >= given.size()) return false;
      const auto own = given[at].substr(given[at].rfind('.') + 1);
      if (given[at] != "1" && !is_one_by_default(own)) return false;
      is_one = true;
    }
    return is_one;
  }

  // parser.add_argument("--epochs", type=int, default=1), also under another name.
  [[nodiscard]] bool is_one_by_default(const std::string& name, int depth = 0) const {
    static const std::regex plain(R"(^[\w.]+$)");
    if (!std::regex_match(name, plain)) return false;
    for (std::size_t i = 0; depth < deepest && i < program_.size(); ++i) {
      if (!program_.names(i, name)) continue;
      const auto value = assigned_to(name, program_.at(i));
      const auto other = value.substr(value.rfind('.') + 1);
      if (!std::regex_match(value, plain) || other == name) continue;
      if (is_one_by_default(other, depth + 1)) return true;
    }
    auto option = name;
    for (auto at = option.find('_'); at != option.npos; at = option.find('_', at + 4))
      option.replace(at, 1, "[-_]");
    const std::regex argument("add_argument\\(.*--" + option + R"(['"].*\bdefault\s*=\s*1\b)");
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (program_.names(i, "add_argument") && std::regex_search(program_.at(i), argument))
        return true;
    }
    return false;
  }

  // Emptied in each round of a loop, and filled in a loop within that.
  [[nodiscard]] std::optional<emptying> by_loop(std::size_t loop, std::size_t line) const {
    if (goes_round_once(loop)) return std::nullopt;
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
