// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/program/largest_so_far.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>
#include <set>

namespace memtrace::verdicts {

namespace {

class search {
 public:
  search(const program_text& program, const std::string& name)
      : program_(program),
        name_(name),
        size_(fmt::format(
            R"((?:len\(\s*[\w.]*\b{0}\b|(?:\w+\.)*\b{0}(?:\[[^\[\]]*\])?\.(?:shape|size\(|numel\()))",
            name)) {}

  [[nodiscard]] std::optional<std::size_t> line() const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, name_) || program_.name_of_function(i) == "__init__") continue;
      const auto value = assigned_to(name_, program_.at(i));
      if (value.empty() || value == "None") continue;
      const auto asks = asked_for(i);
      if (!asks) return std::nullopt;
      found = asks;
    }
    return found;
  }

 private:
  // What the function sets together with the table: self.longest.
  [[nodiscard]] std::set<std::string> set_beside(std::size_t line) const {
    static const std::regex sets(R"(^self\.(\w+)\s*=(?!=))");
    std::set<std::string> names;
    const auto function = program_.function_of(line);
    if (!function) return names;
    for (auto i = *function + 1; i < program_.end_of(*function); ++i) {
      std::smatch found;
      if (std::regex_search(program_.at(i), found, sets) && found[1].str() != name_)
        names.insert(found[1].str());
    }
    return names;
  }

  // Whether more is asked for than there is: length > self.longest. `denied`: whether it is not.
  [[nodiscard]] bool compares(const std::string& code, const std::set<std::string>& beside,
                              bool denied = false) const {
    const std::string more = denied ? R"((?:<=|<)\s*)" : R"((?:>=|>)\s*)";
    const std::string less = denied ? R"([^<>]*(?:>=|>))" : R"([^<>]*(?:<=|<))";
    const auto is_that = [&](const std::string& size) {
      return std::regex_search(code, std::regex(more + size)) ||
             std::regex_search(code, std::regex(size + less));
    };
    if (is_that(size_)) return true;
    return std::ranges::any_of(beside, [&](const std::string& name) {
      return is_that(fmt::format(R"(self\.{}\b)", name));
    });
  }

  [[nodiscard]] std::optional<std::size_t> asked_here(std::size_t line,
                                                      const std::set<std::string>& beside) const {
    for (auto at = program_.above(line); at; at = program_.above(*at)) {
      if (program_.begins(*at, {"def", "async def", "class"})) break;
      if (program_.begins(*at, {"if", "elif"}) && compares(program_.at(*at), beside)) return at;
    }
    // What is large enough has been returned.
    const auto function = program_.function_of(line);
    for (auto i = function ? *function + 1 : line; i < line; ++i) {
      if (!program_.begins(i, {"if"}) || !compares(program_.at(i), beside, true)) continue;
      const auto body = program_.body_of(i);
      if (!body.empty() && body.back().starts_with("return")) return i;
    }
    return std::nullopt;
  }

  // Here, or wherever the function is called but when the object is made.
  [[nodiscard]] std::optional<std::size_t> asked_for(std::size_t line) const {
    const auto beside = set_beside(line);
    if (const auto here = asked_here(line, beside)) return here;
    const auto function = program_.name_of_function(line);
    if (function.empty() || function == "main") return std::nullopt;
    const std::regex call(fmt::format(R"(\.{}\()", function));
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, function) || !std::regex_search(program_.at(i), call)) continue;
      if (program_.name_of_function(i) == "__init__") continue;
      const auto asks = asked_here(i, beside);
      if (!asks) return std::nullopt;
      found = asks;
    }
    return found;
  }

  const program_text& program_;
  const std::string& name_;
  std::string size_;  // a pattern
};

}  // namespace

std::optional<std::size_t> line_for_larger_only(const program_text& program,
                                                const std::string& name) {
  return search(program, name).line();
}

}  // namespace memtrace::verdicts
