// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/program/running_numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <utility>

namespace memtrace::verdicts {

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
