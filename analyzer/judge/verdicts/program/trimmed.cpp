// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/program/trimmed.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>

#include "analyzer/judge/verdicts/program/bound_effect.h"

namespace memtrace::verdicts {

namespace {

// Of a class that can be called: cache = SinkCache(4, 40) … cache(past).
[[nodiscard]] std::optional<std::size_t> call_of_class(const program_text& program,
                                                       const std::string& name) {
  const auto heading = "class " + name;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.begins(i, {heading})) continue;
    for (auto k = i + 1; k < program.end_of(i); ++k) {
      if (program.begins(k, {"def __call__", "def forward"})) return k;
    }
  }
  return std::nullopt;
}

[[nodiscard]] std::optional<std::size_t> definition_called(const program_text& program,
                                                           const std::string& called) {
  if (const auto own = program.definition_of(called)) return own;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.names(i, called)) continue;
    const auto kind = class_made_by(assigned_to(called, program.at(i)));
    if (kind.empty()) continue;
    if (const auto call = call_of_class(program, kind)) return call;
  }
  return std::nullopt;
}

// The line in which a function asks how long its parameter is.
[[nodiscard]] std::optional<std::size_t> asks_how_long(const program_text& program,
                                                       std::size_t definition,
                                                       const std::string& parameter) {
  static const std::regex is_short(R"(^if\b.*[^<>=]<=?[^<>=])");
  static const std::regex is_long(R"(^if\b.*[^<>=]>=?[^<>=])");
  static const std::regex part(R"(\[[^\]]*:[^\]]*\]|\b(?:cat|narrow|index_select|\w*slice\w*)\()");
  const std::regex as_it_is(fmt::format(R"(^return\s+\(?{}\b[^\[(]*$)", parameter));
  std::optional<std::size_t> asks;
  for (auto i = definition + 1; i < program.end_of(definition); ++i) {
    const auto body = program.body_of(i);
    if (std::regex_search(program.at(i), is_short) && body.size() == 1 &&
        std::regex_match(body[0], as_it_is))
      asks = i;
    const bool makes_shorter =
        std::regex_search(program.at(i), is_long) &&
        std::ranges::any_of(body, [&](const std::string& one) {
          return assigned_to(parameter, one).find(parameter) != std::string::npos;
        });
    if (makes_shorter) return i;
    if (asks && i > *asks + 1 && std::regex_search(program.at(i), part)) return asks;
  }
  return std::nullopt;
}

// Of each call in the statement that is given one of these names.
template <class Names>
[[nodiscard]] std::optional<std::size_t> asked_by_a_call(const program_text& program,
                                                         const std::string& statement,
                                                         Names is_meant) {
  static const std::regex call(R"((\w+)\()");
  for (auto at = std::sregex_iterator(statement.begin(), statement.end(), call);
       at != std::sregex_iterator(); ++at) {
    const auto definition = definition_called(program, (*at)[1].str());
    if (!definition) continue;
    const auto begin = static_cast<std::size_t>(at->position() + at->length());
    const auto given = arguments_at(statement, begin);
    const auto parameters = parameters_of(program.at(*definition));
    for (std::size_t i = 0; i < std::min(given.size(), parameters.size()); ++i) {
      if (!is_meant(given[i])) continue;
      if (const auto asks = asks_how_long(program, *definition, parameters[i])) return asks;
      // By the container's own name, where all of the program calls it that.
      const auto own = given[i].substr(given[i].rfind('.') + 1);
      if (const auto asks = asks_how_long(program, *definition, own)) return asks;
    }
  }
  return std::nullopt;
}

// The function gives it something, or puts something into it; no mere parameter.
[[nodiscard]] bool is_made_in(const program_text& program, std::size_t function,
                              const std::string& name) {
  const bound_effect what(program, name);
  for (auto i = function + 1; i < program.end_of(function); ++i) {
    if (!program.names(i, name)) continue;
    if (what.puts_in(program.at(i)) || !assigned_to(name, program.at(i)).empty()) return true;
  }
  return false;
}

// Returned there, or under the name that it is given: made = self.sinks(made) … return logits,
// made.
[[nodiscard]] bool is_handed_on(const program_text& program, std::size_t line, std::size_t end) {
  if (program.begins(line, {"return", "yield"})) return true;
  static const std::regex gives(R"(^([A-Za-z_]\w*)\s*=(?!=))");
  std::smatch found;
  if (!std::regex_search(program.at(line), found, gives)) return false;
  const std::regex named(fmt::format(R"((?:^|[^\w.]){}\b(?!\s*[.(=]))", found[1].str()));
  for (auto i = line + 1; i < end; ++i) {
    if (program.begins(i, {"return", "yield"}) && std::regex_search(program.at(i), named))
      return true;
  }
  return false;
}

}  // namespace

std::optional<std::size_t> line_that_trims(const program_text& program,
                                           const std::string& container,
                                           const std::string& statement) {
  const auto value = assigned_to(container, statement);
  if (value.find(container) == value.npos) return std::nullopt;
  // [trim(key, most) for key in past]: the elements, by whatever names.
  const std::regex goes_through(
      fmt::format(R"(\bfor\s+([\w\s,()]+)\s+in\s+(?:\w+\.)*{}\b)", container));
  std::smatch found;
  std::vector<std::string> names = {container};
  if (std::regex_search(value, found, goes_through)) {
    auto variables = found[1].str();
    std::erase_if(variables, [](char letter) { return letter == '(' || letter == ')'; });
    for (auto& one : parts_of(variables)) names.push_back(std::move(one));
  }
  return asked_by_a_call(program, value, [&](const std::string& given) {
    return std::ranges::any_of(names, [&](const std::string& name) {
      return given == name || given.ends_with('.' + name);
    });
  });
}

std::optional<std::size_t> trimmed_on_the_way(const program_text& program,
                                              const std::vector<std::uint32_t>& lines) {
  static const std::regex name(R"(^[A-Za-z_][\w.]*$)");
  for (const auto line : lines) {
    if (line == 0 || line > program.size()) continue;
    const auto at = line - std::size_t{1};
    const auto function = program.function_of(at);
    if (!function) continue;
    for (auto i = at; i < program.end_of(*function); ++i) {
      if (!is_handed_on(program, i, program.end_of(*function))) continue;
      const auto asks = asked_by_a_call(program, program.at(i), [&](const std::string& given) {
        return std::regex_match(given, name) && is_made_in(program, *function, given);
      });
      if (asks) return asks;
    }
  }
  return std::nullopt;
}

}  // namespace memtrace::verdicts
