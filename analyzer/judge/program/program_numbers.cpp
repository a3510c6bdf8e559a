// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/program_numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <utility>

#include "analyzer/base/text/numbers.h"

namespace memtrace::verdicts {

namespace {

constexpr int deepest = 3;  // names that stand for names

[[nodiscard]] std::string_view last_of(std::string_view name) {
  return name.substr(name.rfind('.') + 1);  // npos + 1 is 0
}

[[nodiscard]] bool is_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, [](unsigned char letter) {
           return std::isalnum(letter) != 0 || letter == '_' || letter == '.';
         });
}

// "a, b" of "min(a, b)"
[[nodiscard]] std::string_view arguments_of(std::string_view call, std::string_view function) {
  if (!call.starts_with(function) || !call.ends_with(')')) return {};
  call.remove_prefix(function.size());
  if (!call.starts_with('(')) return {};
  return call.substr(1, call.size() - 2);
}

[[nodiscard]] std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The last of these signs that is in no bracket.
[[nodiscard]] std::size_t last_outside(std::string_view text, std::string_view signs) {
  int open = 0;
  auto found = text.npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++open;
    if (text[i] == ')' || text[i] == ']') --open;
    if (open == 0 && signs.find(text[i]) != signs.npos) found = i;
  }
  return found;
}

}  // namespace

std::uint64_t elements_written(std::string_view text) {
  const bool in_brackets = text.size() > 2 && ((text.front() == '[' && text.back() == ']') ||
                                               (text.front() == '(' && text.back() == ')') ||
                                               (text.front() == '{' && text.back() == '}'));
  if (!in_brackets || text.find(" for ") != text.npos || text.find('*') != text.npos) return 0;
  return parts_of(text.substr(1, text.size() - 2)).size();
}

std::uint64_t program_numbers::elements_of(std::string_view name) const {
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < program_.size(); ++i) {
    if (!program_.names(i, name)) continue;
    auto text = assigned_to(last_of(name), program_.at(i));
    if (text.empty()) continue;
    constexpr std::size_t most_lines = 60;
    const auto open = [](const std::string& one) {
      return std::ranges::count_if(one, [](char c) { return c == '(' || c == '[' || c == '{'; }) >
             std::ranges::count_if(one, [](char c) { return c == ')' || c == ']' || c == '}'; });
    };
    for (auto j = i + 1; open(text) && j < std::min(program_.size(), i + most_lines); ++j) {
      text += program_.at(j);
    }
    const auto count = elements_written(text);
    if (count == 0 || (found != 0 && found != count)) return 0;
    found = count;
  }
  return found;
}

std::uint64_t program_numbers::least_of(std::string_view arguments, int depth) const {
  std::uint64_t least = 0;
  for (const auto& one : parts_of(arguments)) {
    const auto value = value_of(one, depth + 1);
    if (value != 0 && (least == 0 || value < least)) least = value;
  }
  return least;
}

// depth = min(depth + 1, 7): whatever it is now, at most 7.
std::uint64_t program_numbers::at_most(std::string_view name, int depth) const {
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < program_.size(); ++i) {
    if (!program_.names(i, name)) continue;
    const auto value = assigned_to(name, program_.at(i));
    const auto arguments = arguments_of(value, "min");
    if (arguments.empty()) continue;
    const auto one = least_of(arguments, depth);
    if (one == 0 || (found != 0 && found != one)) return 0;
    found = one;
  }
  return found;
}

std::uint64_t program_numbers::beside(std::string_view name) const {
  for (const auto& one : parts_of(beside_)) {
    const auto equals = one.find('=');
    if (equals != one.npos && std::string_view(one).substr(0, equals) == name) {
      return text::number_in(std::string_view(one).substr(equals + 1)).value_or(0);
    }
  }
  return 0;
}

bool program_numbers::is_off(std::string_view operand) const {
  if (!is_name(operand)) return false;
  const auto name = last_of(operand);
  const bool was_off = std::ranges::any_of(parts_of(beside_), [&](const std::string& one) {
    return one.size() > name.size() && one.starts_with(name) &&
           std::string_view(one).substr(name.size()) == "=False";
  });
  if (!was_off) return false;
  // self.full = len(self.items) == self.capacity is none: it may become true.
  for (std::size_t i = 0; i < program_.size(); ++i) {
    if (!program_.names(i, name)) continue;
    const auto value = assigned_to(name, program_.at(i));
    if (!value.empty() && value != name && value != "False") return false;
  }
  return true;
}

bool program_numbers::is_beyond_its_own_bound(std::string_view condition) const {
  static const std::regex longer(R"(^len\(\s*([\w.]+)\s*\)\s*>\s*([\w.]+)$)");
  static const std::regex bounded(R"(\bdeque\(.*maxlen\s*=\s*([\w.]+))");
  std::match_results<std::string_view::const_iterator> found;
  if (!std::regex_match(condition.begin(), condition.end(), found, longer)) return false;
  const auto name = std::string(last_of(found[1].str()));
  const auto most = found[2].str();
  for (std::size_t i = 0; i < program_.size(); ++i) {
    if (!program_.names(i, name)) continue;
    const auto value = assigned_to(name, program_.at(i));
    std::smatch bound;
    if (!std::regex_search(value, bound, bounded)) continue;
    const auto own = bound[1].str();
    if (last_of(own) == last_of(most)) return true;
    const auto limit = value_of(own);
    return limit != 0 && limit <= value_of(most);
  }
  return false;
}

bool program_numbers::never_holds(std::string_view condition) const {
  for (const std::string_view word : {"if ", "elif ", "while "}) {
    if (condition.starts_with(word)) condition.remove_prefix(word.size());
  }
  if (const auto colon = condition.rfind(':'); colon != condition.npos)
    condition = condition.substr(0, colon);
  if (condition.find(" or ") != condition.npos) return false;
  constexpr std::string_view both = " and ";
  while (!condition.empty()) {
    const auto end = std::min(condition.find(both), condition.size());
    const auto part = without_blanks(condition.substr(0, end));
    if (is_off(part) || is_beyond_its_own_bound(part)) return true;
    condition.remove_prefix(std::min(end + both.size(), condition.size()));
  }
  return false;
}

// The one number that lines of the file give the name: SLOTS = 14, def __init__(self, count=14).
std::uint64_t program_numbers::written(std::string_view name) const {
  const std::regex gives(
      fmt::format(R"((?:^|[\s(,.]){}\s*(?::\s*int\s*)?=\s*(\d[\d_]*)\s*(?=$|[,)]))", name));
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < program_.size(); ++i) {
    if (!program_.names(i, name)) continue;
    std::smatch found;
    auto digits = assigned_to(name, program_.at(i));
    const bool is_number =
        !digits.empty() && std::isdigit(static_cast<unsigned char>(digits.front())) != 0;
    if (!is_number) {
      if (!std::regex_search(program_.at(i), found, gives)) continue;
      digits = found[1].str();
    }
    std::erase(digits, '_');
    const auto one = text::number_in(digits).value_or(0);
    if (value != 0 && one != value) return 0;
    value = one;
  }
  return value;
}

// cycles * steps_per_cycle, len(CLASSES) - 1
std::uint64_t program_numbers::of_two(std::string_view operand, int depth) const {
  const auto at = std::min(last_outside(operand, "+-"), operand.size());
  const auto sign = at == operand.size() ? last_outside(operand, "*") : at;
  if (sign == operand.npos || sign == 0) return 0;
  const auto left = value_of(without_blanks(operand.substr(0, sign)), depth + 1);
  const auto right = value_of(without_blanks(operand.substr(sign + 1)), depth + 1);
  constexpr std::uint64_t largest = std::uint64_t{1} << 31;
  if (left == 0 || right == 0 || left > largest || right > largest) return 0;
  if (operand[sign] == '*') return left * right;
  if (operand[sign] == '+') return left + right;
  return left > right ? left - right : 0;
}

std::uint64_t program_numbers::value_of(std::string_view operand, int depth) const {
  if (operand.empty() || depth > deepest) return 0;
  std::string digits(operand);
  std::erase(digits, '_');
  if (const auto number = text::number_in(digits)) return *number;
  if (const auto smallest = arguments_of(operand, "min"); !smallest.empty())
    return least_of(smallest, depth);
  if (const auto counted = arguments_of(operand, "len"); is_name(counted))
    return elements_of(counted);
  if (!is_name(operand)) return of_two(operand, depth);
  const auto name = last_of(operand);
  if (const auto most = at_most(name, depth); most != 0) return most;
  if (const auto known = beside(name); known != 0) return known;
  return written(name);
}

namespace {

class running_key {
 public:
  explicit running_key(const program_text& program) : program_(program) {}

  // step, f"{step}-{part}", (self.turn, name), id(batch), what a function of the program returns
  [[nodiscard]] bool is_new_each_time(const std::string& key, std::size_t line,
                                      int depth = 0) const {
    static const std::regex identity(
        R"(\b(?:id|hash|uuid[14]|time|time_ns|perf_counter|monotonic|token_hex|count)\()");
    static const std::regex folded(R"(%(?!\s*\()|\bmin\()");
    static const std::regex word(R"((?:\b\w+\.)*\b([A-Za-z_]\w*)\b(?!\s*\())");
    static const std::regex call(R"((?:\b\w+\.)*\b(\w+)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))");
    if (depth > most_names) return false;
    if (std::regex_search(key, identity)) return true;
    if (std::regex_search(key, folded)) return false;
    std::string rest = key;
    for (auto at = std::sregex_iterator(key.begin(), key.end(), call); at != std::sregex_iterator();
         ++at) {
      const auto definition = program_.definition_of((*at)[1].str());
      if (!definition) continue;
      if (returns_new(*definition, depth)) return true;
      if (const auto place = rest.find(at->str()); place != std::string::npos)
        rest.erase(place, at->length());
    }
    for (auto at = std::sregex_iterator(rest.begin(), rest.end(), word);
         at != std::sregex_iterator(); ++at) {
      if (counts((*at)[1].str(), line, depth)) return true;
    }
    return false;
  }

 private:
  static constexpr int most_names = 4;  // that stand for one another

  [[nodiscard]] bool returns_new(std::size_t definition, int depth) const {
    for (auto i = definition + 1; i < program_.end_of(definition); ++i) {
      if (!program_.begins(i, {"return", "yield"})) continue;
      const auto value = program_.at(i).substr(program_.at(i).find_first_of(" ") + 1);
      if (is_new_each_time(value, i, depth + 1)) return true;
    }
    return false;
  }

  [[nodiscard]] bool counts(const std::string& name, std::size_t line, int depth) const {
    if (depth > most_names || is_asked_already(name, line, depth)) return false;
    const std::regex one_more(
        fmt::format(R"(\b{0}\s*(?:\+=\s*1$|=\s*(?:\w+\.)*{0}\s*\+\s*1$))", name));
    const std::regex of_loop(fmt::format(
        R"(^(?:async )?for\s+(?:\(?\s*)?{}\b.*\bin\s+(?:range|enumerate|count|itertools\.count|tqdm|trange)\()",
        name));
    const std::regex folded(fmt::format(R"(\b{}\s*(?:%=|=.*%(?!\s*\()))", name));
    const std::regex goes_through(fmt::format(
        R"(\bfor\s+(?:[\w\s,()]*[\s,(])?{}\b[\w\s,()]*?\s+in\s+(?!range|enumerate|count|itertools)(.*?)(?:\]|\}}|:$|$))",
        name));
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (program_.names(i, name) && std::regex_search(program_.at(i), folded)) return false;
    }
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, name)) continue;
      const auto& code = program_.at(i);
      if (std::regex_search(code, one_more) && !begins_anew(name, program_.function_of(i)))
        return true;
      const bool has_no_end = code.find("count()") != std::string::npos;
      if (std::regex_search(code, of_loop) && (has_no_end || is_loop_of_steps(i))) return true;
      std::smatch sequence;
      if (std::regex_search(code, sequence, goes_through) &&
          is_new_each_time(sequence[1].str(), i, depth + 1))
        return true;
      const auto value = assigned_to(name, code);
      if (!value.empty() && value != name && value.find(name) == std::string::npos &&
          is_new_each_time(value, i, depth + 1))
        return true;
    }
    return is_handed(name, line, depth);
  }

  // By no more detours than now: the answer was no, or this would not be asked. In a long program
  // names stand for one another in very many ways.
  [[nodiscard]] bool is_asked_already(const std::string& name, std::size_t line, int depth) const {
    const auto [known, is_new] =
        asked_.try_emplace(std::pair(name, program_.function_of(line)), depth);
    if (is_new) return false;
    if (known->second <= depth) return true;
    known->second = depth;
    return false;
  }

  // Set to nothing again after it was made; not at the begin of the function that counts.
  [[nodiscard]] bool begins_anew(const std::string& name,
                                 std::optional<std::size_t> counting) const {
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, name) || assigned_to(name, program_.at(i)) != "0") continue;
      const auto function = program_.name_of_function(i);
      if (program_.function_of(i) == counting && program_.loops_around(i) == 0) continue;
      if (function != "__init__" && function != "main" && program_.loops_around(i) == 0 &&
          !function.empty())
        return true;
      if (program_.loops_around(i) != 0) return true;
    }
    return false;
  }

  // Gone through once: not within another loop, nor in a function that is called in one.
  [[nodiscard]] bool is_loop_of_steps(std::size_t line) const {
    if (program_.loops_around(line) != 0) return false;
    const auto function = program_.name_of_function(line);
    if (function.empty() || function == "main") return true;
    const std::regex call(fmt::format(R"(\b{}\()", function));
    std::size_t calls = 0;
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, function) || program_.begins(i, {"def", "async def"})) continue;
      if (!std::regex_search(program_.at(i), call)) continue;
      if (program_.loops_around(i) != 0 || ++calls > 1) return false;
      const auto caller = program_.name_of_function(i);
      if (!caller.empty() && caller != "main") return false;
    }
    return calls == 1;
  }

  // A parameter: what is given for it anywhere.
  [[nodiscard]] bool is_handed(const std::string& name, std::size_t line, int depth) const {
    const auto function = program_.function_of(line);
    if (!function) return false;
    const auto parameters = parameters_of(program_.at(*function));
    const auto place = std::ranges::find(parameters, name);
    if (place == parameters.end()) return false;
    auto called = program_.name_of_function(line);
    if (called == "__call__" || called == "__getitem__" || called == "__init__") return false;
    const auto at = static_cast<std::size_t>(place - parameters.begin());
    const std::regex call(fmt::format(R"(\b{}\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\))", called));
    for (std::size_t i = 0; i < program_.size(); ++i) {
      std::smatch found;
      if (i == *function || !program_.names(i, called)) continue;
      if (!std::regex_search(program_.at(i), found, call)) continue;
      const auto given = parts_of(found[1].str());
      if (at < given.size() && is_new_each_time(given[at], i, depth + 1)) return true;
    }
    return false;
  }

  const program_text& program_;
  // Names, with the function that reads them, and by how many others they were come to.
  mutable std::map<std::pair<std::string, std::optional<std::size_t>>, int> asked_;
};

}  // namespace

bool puts_in_under_running_number(const program_text& program, std::size_t line,
                                  const std::string& container) {
  const std::regex written(fmt::format(
      R"(\b{0}(?:\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]\s*=(?!=)|\.setdefault\(\s*([^,]+),))",
      container));
  std::smatch found;
  if (!std::regex_search(program.at(line), found, written)) return false;
  const auto key = found[1].matched ? found[1].str() : found[2].str();
  return running_key(program).is_new_each_time(key, line);
}

}  // namespace memtrace::verdicts
