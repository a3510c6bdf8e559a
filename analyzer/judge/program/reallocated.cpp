// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/reallocated.h"

#include <fmt/core.h>

#include <algorithm>
#include <compare>
#include <deque>
#include <functional>
#include <optional>
#include <regex>
#include <set>
#include <vector>

#include "analyzer/judge/program/bound_effect.h"

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

namespace {

constexpr std::size_t most_names = 100;

[[nodiscard]] std::set<std::string> names_in(const std::string& expression) {
  // Names of arguments (dim=1), of attributes' owners, and texts do not matter.
  static const std::regex text(R"('[^']*'|"[^"]*")");
  static const std::regex word(R"([A-Za-z_]\w*)");
  static const std::set<std::string> others = {"for", "in",   "if",     "else",  "not",   "and",
                                               "or",  "None", "True",   "self",  "torch", "F",
                                               "nn",  "is",   "lambda", "range", "min",   "max"};
  const auto bare = std::regex_replace(expression, text, "");
  std::set<std::string> names;
  for (auto at = std::sregex_iterator(bare.begin(), bare.end(), word); at != std::sregex_iterator();
       ++at) {
    const auto name = at->str();
    const auto after =
        bare.find_first_not_of(' ', static_cast<std::size_t>(at->position()) + name.size());
    const bool is_keyword = after != std::string::npos && bare[after] == '=' &&
                            bare[std::min(after + 1, bare.size() - 1)] != '=';
    if (!is_keyword && !others.contains(name)) names.insert(name);
  }
  return names;
}

// Not where it is a function of that name: length = self.length(step).
[[nodiscard]] bool reads(const std::string& value, const std::string& name) {
  if (!names_in(value).contains(name)) return false;
  const std::regex variable(fmt::format(R"(\b{}\b(?!\s*\())", name));
  return std::regex_search(value, variable);
}

// size + 16, min(1 + count, 400): a number that a plan makes larger.
[[nodiscard]] bool is_arithmetic(const std::string& expression) {
  static const std::regex arithmetic(R"(^[\w.\s+*/%(),-]*$)");
  static const std::regex calls(R"((\w+)\()");
  if (!std::regex_match(expression, arithmetic)) return false;
  for (auto at = std::sregex_iterator(expression.begin(), expression.end(), calls);
       at != std::sregex_iterator(); ++at) {
    const auto name = (*at)[1].str();
    if (name != "min" && name != "max" && name != "int" && name != "round") return false;
  }
  return expression.find_first_of("0123456789") != std::string::npos;
}

[[nodiscard]] bool has_parameter(const std::string& definition, const std::string& name) {
  const auto parameters = parameters_of(definition);
  return std::ranges::find(parameters, name) != parameters.end();
}

struct assignment {
  std::size_t line = 0;
  std::string value;
};

struct name_read {
  std::string name;
  std::optional<std::size_t> function;  // its definition's line
  auto operator<=>(const name_read&) const = default;
};

class follower {
 public:
  explicit follower(const program_text& program) : program_(program) {}

  [[nodiscard]] std::vector<assignment> assignments_to(const std::string& name) const {
    std::vector<assignment> found;
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, name)) continue;
      auto value = assigned_to(name, program_.at(i));
      if (!value.empty()) found.push_back({i, std::move(value)});
    }
    return found;
  }

  // A variable of the function in which it is read, if that has one of this name.
  [[nodiscard]] std::vector<assignment> assignments_to(const name_read& read) const {
    auto found = assignments_to(read.name);
    const auto is_own = [&](const assignment& one) {
      return program_.function_of(one.line) == read.function &&
             program_.at(one.line).find('.' + read.name) == std::string::npos;
    };
    if (std::ranges::any_of(found, is_own)) std::erase_if(found, std::not_fn(is_own));
    return found;
  }

  // What a value is made of; of a function of the program, what it returns.
  void read_in(const std::string& value, std::size_t line, std::deque<name_read>& open) const {
    for (const auto& name : names_in(value)) {
      open.push_back({name, program_.function_of(line)});
      const auto definition = program_.definition_of(name);
      if (!definition) continue;
      for (auto i = *definition + 1; i < program_.end_of(*definition); ++i) {
        if (!program_.begins(i, {"return", "yield"})) continue;
        for (const auto& given : names_in(program_.at(i))) {
          if (given != "return" && given != "yield") open.push_back({given, definition});
        }
      }
    }
  }

  // It has something of all steps before.
  [[nodiscard]] bool gathers(const std::string& name, const std::vector<assignment>& given) const {
    const bool anew = std::ranges::any_of(given, [&](const assignment& one) {
      const auto function = program_.name_of_function(one.line);
      const auto definition = program_.function_of(one.line);
      if (definition && has_parameter(program_.at(*definition), name)) return true;
      if (is_of_a_call(one) && !reads(one.value, name)) return true;
      return program_.loops_around(one.line) != 0 && !reads(one.value, name) &&
             function != "__init__";
    });
    for (const auto& one : given) {
      if (reads(one.value, name) && !is_arithmetic(one.value) && !anew) return true;
    }
    if (anew) return false;
    const bound_effect container(program_, name);
    if (loses(container, name) || begins_again(given, name)) return false;
    const std::regex adds(fmt::format(R"(\b{}\s*\+=\s*(.*)$)", name));
    const auto home = given.empty() ? std::string() : program_.name_of_function(given[0].line);
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, name) || is_of_another_function(i, name, given)) continue;
      std::smatch found;
      if (std::regex_search(program_.at(i), found, adds)) {
        if (!is_arithmetic(found[1].str())) return true;
        continue;
      }
      // A list of one call's own.
      const bool of_a_call = !given.empty() && home != "main" && home != "__init__" &&
                             !home.empty() && program_.name_of_function(i) == home &&
                             program_.at(given[0].line).find("self.") == std::string::npos;
      if (container.puts_in(program_.at(i)) && !of_a_call) return true;
    }
    return false;
  }

 private:
  // The line's function has a variable of this name, which is another one.
  [[nodiscard]] bool is_of_another_function(std::size_t line, const std::string& name,
                                            const std::vector<assignment>& given) const {
    const auto own = program_.function_of(line);
    if (!own || given.empty() || program_.names(line, "." + name)) return false;
    if (program_.names(given[0].line, "." + name)) return false;
    const auto is_here = [&](const assignment& one) {
      return program_.function_of(one.line) == own;
    };
    if (std::ranges::any_of(given, is_here)) return false;
    return std::ranges::any_of(assignments_to(name), is_here);
  }

  // Something of it goes now and then: history.pop(0).
  [[nodiscard]] bool loses(const bound_effect& container, const std::string& name) const {
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (program_.names(i, name) && container.removes(program_.at(i))) return true;
    }
    return false;
  }

  // An attribute that a function which is called gives a new value: self.tokens = list(prompt).
  [[nodiscard]] bool begins_again(const std::vector<assignment>& given,
                                  const std::string& name) const {
    return std::ranges::any_of(given, [&](const assignment& one) {
      const auto function = program_.name_of_function(one.line);
      if (function.empty() || function == "__init__" || function == "main") return false;
      if (!program_.names(one.line, "." + name) || reads(one.value, name)) return false;
      const std::regex call(fmt::format(R"(\.{}\()", function));
      for (std::size_t i = 0; i < program_.size(); ++i) {
        if (program_.names(i, function) && std::regex_search(program_.at(i), call)) return true;
      }
      return false;
    });
  }

  // A variable of a function that ends.
  [[nodiscard]] bool is_of_a_call(const assignment& one) const {
    const auto definition = program_.function_of(one.line);
    const auto function = program_.name_of_function(one.line);
    if (!definition || function == "main" || function == "__init__") return false;
    if (program_.at(one.line).find("self.") != std::string::npos) return false;
    for (auto i = *definition + 1; i < program_.end_of(*definition); ++i) {
      if (program_.names(i, "yield")) return false;
    }
    return true;
  }

  const program_text& program_;
};

}  // namespace

bool is_reallocated(const program_text& program, const std::string& variable) {
  const follower from(program);
  const auto own = from.assignments_to(variable);
  const bound_effect container(program, variable);
  // A function that is called has a variable of this name, too, which is another one.
  const auto is_outer = [&](const assignment& one) {
    const auto function = program.name_of_function(one.line);
    return function.empty() || function == "main" || program.names(one.line, "." + variable);
  };
  const bool has_outer = std::ranges::any_of(own, is_outer);
  const auto is_of_another = [&](std::optional<std::size_t> function) {
    return has_outer && function && std::ranges::any_of(own, [&](const assignment& one) {
             return !is_outer(one) && program.function_of(one.line) == function;
           });
  };
  // A list of a step's own is made in the loop; any other gathers.
  const bool is_refilled = std::ranges::any_of(own, [&](const assignment& one) {
    return program.loops_around(one.line) != 0 && container.empties(program.at(one.line));
  });
  std::deque<name_read> open;
  bool anew = is_refilled;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.names(i, variable) || !container.puts_in(program.at(i))) continue;
    if (is_of_another(program.function_of(i))) continue;
    if (!is_refilled) return false;
    from.read_in(program.at(i), i, open);
    std::erase_if(open, [&](const name_read& one) { return one.name == variable; });
  }
  for (const auto& one : own) {
    if (container.empties(program.at(one.line))) continue;
    if (is_of_another(program.function_of(one.line))) continue;
    const auto function = program.name_of_function(one.line);
    const bool begins = program.loops_around(one.line) == 0 &&
                        (function == "__init__" || function == "main" || function.empty());
    if (begins) continue;
    anew = true;
    from.read_in(one.value, one.line, open);
  }
  std::set<name_read> seen;
  while (anew && !open.empty() && seen.size() < most_names) {
    const auto read = open.front();
    open.pop_front();
    if (read.name == variable && !is_of_another(read.function)) return false;
    if (!seen.insert(read).second) continue;
    const auto given = from.assignments_to(read);
    if (from.gathers(read.name, given)) return false;
    for (const auto& one : given) {
      std::deque<name_read> next;
      from.read_in(one.value, one.line, next);
      for (auto& other : next) {
        if (other.name != read.name) open.push_back(std::move(other));
      }
    }
  }
  return anew;
}

bool is_made_of_itself(const program_text& program, const std::string& variable) {
  const follower from(program);
  std::deque<name_read> open;
  for (const auto& one : from.assignments_to(variable)) from.read_in(one.value, one.line, open);
  std::set<name_read> seen;
  while (!open.empty() && seen.size() < most_names) {
    const auto read = open.front();
    open.pop_front();
    if (read.name == variable) return true;
    if (!seen.insert(read).second) continue;
    for (const auto& one : from.assignments_to(read)) from.read_in(one.value, one.line, open);
  }
  return false;
}

}  // namespace memtrace::verdicts
