// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/inconclusive.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>

#include "analyzer/judge/program/bound_effect.h"
#include "analyzer/judge/program/cuts.h"
#include "analyzer/judge/program/other_names.h"
#include "analyzer/judge/program/program_numbers.h"
#include "analyzer/judge/program/program_text.h"
#include "analyzer/judge/program/reallocated.h"
#include "analyzer/judge/program/signs_of_end.h"

namespace memtrace::verdicts {

namespace {

class search {
 public:
  search(const program_text& program, const std::string& name, const gathered& what)
      : program_(program),
        numbers_(program, what.numbers),
        what_(what),
        container_(program, name),
        asks_(fmt::format(
            R"(\bin\s+(?:\w+\.)*{0}\b|\b{0}\.(?:get|keys)\(|\b{0}(?:\[[^\]]*\])?\s+is\s|\bset\(\s*(?:\w+\.)*{0}\b)",
            name)),
        measures_(fmt::format(
            R"(len\(\s*[\w.\[\]'"]*\b{0}\b[^()]*\)|\b{0}(?:\[[^\[\]]*\])?\.(?:shape\[-?\d\]|size\(|qsize\(|numel\())",
            name)),
        of_element_(fmt::format(R"(\b{}\[[^\[\]]+\])", name)),
        selects_(fmt::format(
            R"(^(?:[^=]*,\s*)?((?:\w+\.)*{}\b)[^=]*=(?!=)(?:.*[^\w.])?\1\[(?![^\]]*\bNone\b))",
            name)),
        name_(name) {}

  // Each line that puts something in does so for what is not there.
  [[nodiscard]] std::optional<std::size_t> for_new_keys() const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, name_) || !container_.puts_in(program_.at(i))) continue;
      if (!is_asked_before(i)) return std::nullopt;
      if (!what_.keys_come_again && puts_in_under_running_number(program_, i, name_))
        return std::nullopt;
      found = i;
    }
    return found;
  }

  // Takes something out, where a condition holds.
  [[nodiscard]] std::optional<std::size_t> taken_out() const {
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, name_)) continue;
      const auto& code = program_.at(i);
      const bool sifts = is_sifted(code);
      // It has run, and there are more than it names.
      if (sifts && is_exceeded(code)) continue;
      if (!sifts && !container_.removes(code) && !container_.empties(code) &&
          !container_.shortens(code) && !is_selected(code) && !is_cut_by_a_function(code)) {
        const auto asks = line_that_trims(program_, name_, code);
        if (asks && !is_exceeded(program_.at(*asks))) return asks;
        continue;
      }
      if (program_.name_of_function(i) == "__init__" || is_of_another_level(code)) continue;
      if (begins_a_call(i)) continue;
      if (is_switched_off(i)) continue;
      // A tensor that is cut each time it is made longer: of how many rows nobody has counted.
      const bool is_cut =
          what_.length == 0 && (container_.shortens(code) || is_cut_by_a_function(code));
      const auto condition = sifts || is_cut ? std::optional(i) : condition_to_reach(i);
      if (!condition) continue;
      // Its length has gone beyond what the condition names, and nothing was taken out.
      const auto& asked = program_.at(*condition);
      if (is_first(code, asked)) continue;
      const bool measures = std::regex_search(asked, measures_);
      if ((measures || asked.find("len(") != std::string::npos) && is_exceeded(asked)) continue;
      if (measures && is_of_another_level(asked)) continue;
      return i;
    }
    return room_made();
  }

  [[nodiscard]] std::optional<std::size_t> measured() const {
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, name_)) continue;
      if (!program_.begins(i, {"if", "elif", "while"})) continue;
      const auto& code = program_.at(i);
      if (!std::regex_search(code, measures_) || is_of_another_level(code)) continue;
      if (code.find('<') == code.npos && code.find('>') == code.npos && !is_compared(code))
        continue;
      if (is_exceeded(code)) return std::nullopt;
      const auto longer = container_.of(i, true);
      const auto shorter = container_.of(i, false);
      if (longer == effect::limits || shorter == effect::limits) return i;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::size_t> runs_out() const {
    return line_that_runs_out(program_, container_, name_);
  }

 private:
  // What it names is the container, where its elements get longer, or the other way round.
  [[nodiscard]] bool is_of_another_level(const std::string& code) const {
    const bool names_element = std::regex_search(code, of_element_);
    return what_.in_elements ? !names_element : what_.has_elements && names_element;
  }

  // len(self.items) == self.capacity
  [[nodiscard]] static bool is_compared(const std::string& code) {
    static const std::regex with_a_number(R"(==\s*(?!0\b|1\b)[\w.]+)");
    return std::regex_search(code, with_a_number);
  }

  [[nodiscard]] bool is_switched_off(std::size_t line) const {
    for (auto at = std::optional(line); at; at = program_.above(*at)) {
      if (program_.begins(*at, {"if", "elif", "while"}) && numbers_.never_holds(program_.at(*at)))
        return true;
      if (program_.begins(*at, {"def", "async def", "class"})) break;
    }
    return false;
  }

  // A variable that a function makes before it fills it: each call has its own.
  [[nodiscard]] bool begins_a_call(std::size_t line) const {
    const auto& code = program_.at(line);
    return container_.empties(code) && !assigned_to(name_, code).empty() &&
           code.find('.' + name_) == code.npos && program_.loops_around(line) == 0 &&
           !condition_of(line);
  }

  // if not state: state["past"] = []
  [[nodiscard]] bool is_first(const std::string& code, const std::string& asked) const {
    static const std::regex absent(R"(^(?:el)?if\b.*(?:\bnot\b(?!\s+None)|\bis None\b))");
    static const std::regex at_first(R"(^(?:el)?if\b[^%]*== 0\b)");
    return !assigned_to(name_, code).empty() &&
           (std::regex_search(asked, absent) || std::regex_search(asked, at_first));
  }

  // self.lost = [track for track in self.lost if track.age < 4]
  [[nodiscard]] bool is_sifted(const std::string& code) const {
    const auto value = assigned_to(name_, code);
    if (value.empty() || value.find(name_) == std::string::npos) return false;
    static const std::regex chosen(R"(\bfor\b.*\bin\b.*\bif\b|\bfilter\()");
    return std::regex_search(value, chosen);
  }

  // self.keys = self.keys[:, kept]; not samples = self.samples[number], a variable of its own.
  [[nodiscard]] bool is_selected(const std::string& code) const {
    return what_.length == 0 && std::regex_search(code, selects_) &&
           may_shorten(program_, name_, code.substr(code.find('=')));
  }

  // self.keys = self.crop(keys), where crop() returns a part of what it is given.
  [[nodiscard]] bool is_cut_by_a_function(const std::string& code) const {
    static const std::regex call(R"(^(?:\w+\.)*(\w+)\()");
    std::smatch found;
    const auto value = assigned_to(name_, code);
    if (what_.length != 0 || !std::regex_search(value, found, call)) return false;
    const auto definition = program_.definition_of(found[1].str());
    if (!definition) return false;
    auto parameters = parameters_of(program_.at(*definition));
    parameters.push_back(name_);  // by one name, where it is handed the container itself
    const auto body = program_.body_of(*definition);
    return std::ranges::any_of(body, [&](const std::string& statement) {
      return statement.starts_with("return") &&
             std::ranges::any_of(parameters, [&](const std::string& name) {
               return std::regex_search(
                   statement,
                   std::regex(fmt::format(R"(\b{}\[{}-\s*[\w.]+\s*:)", name, whole_before)));
             });
    });
  }

  // if len(self) >= self.capacity: self.make_room(), before the line that puts something in, where
  // make_room() takes something out of whatever it calls the container, or an element of it.
  [[nodiscard]] std::optional<std::size_t> room_made() const {
    static const std::regex compares(R"(\blen\(|[<>]=?\s*(?:self\.)?[a-z_])");
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, name_) || !container_.puts_in(program_.at(i))) continue;
      const auto function = program_.function_of(i);
      for (auto k = function ? *function + 1 : i; k < i; ++k) {
        if (!program_.begins(k, {"if", "while"}) || program_.end_of(k) > i) continue;
        const auto& asked = program_.at(k);
        if (!std::regex_search(asked, compares) || is_exceeded(asked) || is_switched_off(k))
          continue;
        const auto body = program_.body_of(k);
        if (std::ranges::any_of(body, [&](const auto& one) { return calls_for_room(one); }))
          return k;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool calls_for_room(const std::string& statement) const {
    static const std::regex call(R"(\b(?:self\.)(\w+)\()");
    static const std::regex takes(
        R"(\.(?:pop|popleft|popitem|remove|discard|clear)\(|^del\s|\bheappop\()");
    std::smatch found;
    if (!std::regex_search(statement, found, call)) return false;
    const auto definition = program_.definition_of(found[1].str());
    if (!definition) return false;
    const auto body = program_.body_of(*definition);
    const bool names = std::ranges::any_of(
        body, [&](const auto& one) { return one.find(name_) != std::string::npos; });
    return names &&
           std::ranges::any_of(body, [](const auto& one) { return std::regex_search(one, takes); });
  }

  // It is longer than a number of the comparison.
  [[nodiscard]] bool is_exceeded(const std::string& code) const {
    static const std::regex operand(R"([\w.]+)");
    for (auto at = std::sregex_iterator(code.begin(), code.end(), operand);
         at != std::sregex_iterator(); ++at) {
      const auto limit = numbers_.value_of(at->str());
      if (limit >= 2 && limit + 1 < what_.length) return true;
    }
    return false;
  }

  // In its function, or wherever that is called.
  [[nodiscard]] bool is_asked_before(std::size_t line) const {
    if (is_asked_here(line)) return true;
    const auto function = program_.name_of_function(line);
    if (function.empty() || function == "main" || function == "__init__") return false;
    const std::regex call(fmt::format(R"(\b{}\()", function));
    bool is_called = false;
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, function) || program_.begins(i, {"def", "async def"})) continue;
      if (!std::regex_search(program_.at(i), call)) continue;
      const bool asked = program_.function_of(i) ? is_asked_here(i) : is_under_question(i);
      if (!asked) return false;
      is_called = true;
    }
    return is_called;
  }

  [[nodiscard]] bool is_under_question(std::size_t line) const {
    for (auto at = std::optional(line); at; at = program_.above(*at)) {
      if (program_.begins(*at, {"if", "elif", "for", "while"}) &&
          std::regex_search(program_.at(*at), asks_))
        return true;
      if (program_.begins(*at, {"def", "async def"})) break;
    }
    return false;
  }

  [[nodiscard]] bool is_asked_here(std::size_t line) const {
    const auto function = program_.function_of(line);
    for (auto i = function ? *function : std::size_t{0}; i <= line; ++i) {
      if (program_.names(i, name_) && std::regex_search(program_.at(i), asks_)) return true;
      if (program_.begins(i, {"except KeyError"})) return true;
    }
    return false;
  }

  // for number in gone: …, where gone = [number for number in tracks if …]
  [[nodiscard]] bool is_over_chosen(std::size_t loop) const {
    static const std::regex sequence(R"(\bin\s+(\w+):$)");
    static const std::regex chosen(R"(\bfor\b.*\bif\b)");
    std::smatch found;
    if (!std::regex_search(program_.at(loop), found, sequence)) return false;
    for (std::size_t i = 0; i < loop; ++i) {
      if (!program_.names(i, found[1].str())) continue;
      const auto value = assigned_to(found[1].str(), program_.at(i));
      if (std::regex_search(value, chosen)) return true;
    }
    return false;
  }

  // for _ in range(len(rows) - most): …
  [[nodiscard]] bool is_over_excess(std::size_t loop) const {
    static const std::regex excess(R"(\brange\(.*\s-\s)");
    return std::regex_search(program_.at(loop), excess);
  }

  [[nodiscard]] std::optional<std::size_t> condition_of(std::size_t line) const {
    if (program_.begins(line, {"if", "elif", "while"})) return line;
    for (auto at = std::optional(line); at; at = program_.above(*at)) {
      if (*at != line) {
        if (program_.begins(*at, {"if", "elif", "else", "while", "except"})) return at;
        if (program_.begins(*at, {"for"}) && (is_over_chosen(*at) || is_over_excess(*at)))
          return at;
        if (program_.begins(*at, {"def", "async def", "class"})) return std::nullopt;
      }
      if (const auto guard = program_.left_before(*at)) return guard;
    }
    return std::nullopt;
  }

  // Of the line, or of the calls of the function that it is in.
  [[nodiscard]] std::optional<std::size_t> condition_to_reach(std::size_t line,
                                                              int depth = 0) const {
    constexpr int most_calls = 3;
    if (const auto own = condition_of(line)) return own;
    const auto function = program_.name_of_function(line);
    if (depth == most_calls || function.empty() || function == "main" || function == "__init__")
      return std::nullopt;
    const std::regex call(fmt::format(R"(\b{}\()", function));
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, function) || program_.begins(i, {"def", "async def"})) continue;
      if (!std::regex_search(program_.at(i), call)) continue;
      if (program_.name_of_function(i) == function || is_switched_off(i)) continue;
      if (const auto found = condition_to_reach(i, depth + 1)) return found;
    }
    return std::nullopt;
  }

  const program_text& program_;
  program_numbers numbers_;
  const gathered& what_;
  bound_effect container_;
  std::regex asks_;
  std::regex measures_;
  std::regex of_element_;
  std::regex selects_;
  std::string name_;
};

// "children" of "root.children[…].children['x'", an element of it.
[[nodiscard]] std::string_view container_of(std::string_view element) {
  element = element.substr(0, element.rfind('['));
  const auto inner = element.rfind("].");
  return inner == element.npos ? element : element.substr(inner + 2);
}

[[nodiscard]] bool puts_into(const program_text& program, const std::string& name) {
  if (name.empty()) return false;
  const bound_effect container(program, name);
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (program.names(i, name) && container.puts_in(program.at(i))) return true;
  }
  return false;
}

// The container has this name.
[[nodiscard]] std::optional<open_end> may_end(const program_text& program, const std::string& name,
                                              const gathered& what) {
  if (name.empty() || !program.names(name)) return std::nullopt;
  const auto by_this_name =
      by_one_name(apart_from_others(program, what.variable, what.holder), name);
  const search in(by_this_name, name, what);
  const auto made = [](open_kind kind, std::size_t line) {
    return open_end{kind, {}, static_cast<std::uint32_t>(line + 1), {}};
  };
  const bool keys_may_end = what.keys_come_again || what.keys == 'i' || what.keys == 'k';
  if (keys_may_end && !what.in_elements) {
    if (const auto line = in.for_new_keys()) return made(open_kind::new_keys, *line);
  }
  if (const auto line = in.taken_out()) return made(open_kind::taken_out, *line);
  if (const auto line = in.measured()) return made(open_kind::measured, *line);
  if (const auto line = in.runs_out()) return made(open_kind::runs_out, *line);
  // Of a tensor: a list is made longer by an element, whatever it is compared with.
  if (what.length == 0) {
    if (const auto line = line_for_larger_only(by_this_name, name))
      return made(open_kind::larger_only, *line);
  }
  // Of a tensor that is made longer nobody knows by how much: by one in each step at least.
  const auto reached = std::max(what.length == 0 ? what.steps : what.length, what.blocks);
  if (auto limit = limit_beside(by_this_name, name, what.numbers, reached)) {
    auto end = made(open_kind::named, limit->line);
    end.number = std::move(limit->number);
    end.is_below = what.length != 0;
    return end;
  }
  return std::nullopt;
}

}  // namespace

std::optional<open_end> may_end(const program_text& program, const gathered& what) {
  // What an element's attribute keeps grows with the elements only where there are more of them.
  const auto element = what.variable.rfind("].");
  const bool of_element = element != what.variable.npos;
  if (of_element && !what.gets_longer && !what.is_that) return std::nullopt;
  const auto name =
      name_in(program, of_element ? what.variable.substr(element + 2) : what.variable);
  const auto outer = of_element ? last_name(container_of(what.variable.substr(0, element))) : "";
  if (of_element && !what.is_that && !puts_into(program, name))
    return may_end(program, outer, what);
  auto found = may_end(program, name, what);
  // More elements, each with something of its own.
  if (!found && of_element && what.gets_longer) found = may_end(program, outer, what);
  return found;
}

}  // namespace memtrace::verdicts
