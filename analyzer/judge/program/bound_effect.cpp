// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/bound_effect.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/judge/program/cuts.h"

namespace memtrace::verdicts {

namespace {

constexpr int deepest = 3;  // functions that call functions

[[nodiscard]] bool begins_with(const std::string& statement,
                               std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    return statement.starts_with(word) &&
           (statement.size() == word.size() ||
            std::isalnum(static_cast<unsigned char>(statement[word.size()])) == 0);
  });
}

[[nodiscard]] bool leaves(const std::string& statement) {
  return begins_with(statement, {"return", "continue", "break", "raise"});
}

[[nodiscard]] bool only_says(const std::string& statement) {
  static const std::regex says(
      R"(^(?:print|pass|(?:\w+\.)*(?:warn|warning|info|debug|log|write))\b)");
  return std::regex_search(statement, says);
}

[[nodiscard]] std::vector<std::string> functions_called(const std::string& statement) {
  static const std::regex call(R"((\w+)\()");
  std::vector<std::string> names;
  for (auto at = std::sregex_iterator(statement.begin(), statement.end(), call);
       at != std::sregex_iterator(); ++at) {
    names.push_back((*at)[1].str());
  }
  return names;
}

[[nodiscard]] bool is_nothing(const std::string& value) {
  static const std::regex nothing(
      R"(^(?:None|\[\s*\[\s*\]\s*for\b.*\]|\{\s*[^:]*:\s*(?:\[\s*\]|\{\s*\})\s*for\b.*\}|\[\s*\]|\{\s*\}|\(\s*\)|(?:\w+\.)*(?:list|dict|set|tuple|deque|OrderedDict|defaultdict|Counter)\(\s*(?:list|dict|set)?\s*\))$)");
  return std::regex_match(value, nothing);
}

// Memory(), buffers.Rollout(length)
[[nodiscard]] bool is_new_object(const std::string& value) {
  static const std::regex made(R"(^(?:\w+\.)*[A-Z]\w*\(.*\)$)");
  return std::regex_match(value, made);
}

// "self.rows = self.rows[extra:]", "rows = {key: part[-n:] for key, part in rows.items()}"; not
// "rows = self.rows[-12:]", which leaves what is shortened as it was.
[[nodiscard]] std::string pattern_of_shortening(const std::string& name) {
  const auto assigned = fmt::format(R"({}\b(?:\[[^\[\]]*\])?\s*=(?!=).*)", name);
  const std::string part =
      fmt::format(R"(\[{}(?:-?\s*[\w.]+\s*:|:\s*-?\s*[\w.]+){}\])", whole_before, whole_after);
  const auto shortened = [&](const std::string& source) {
    return fmt::format(R"((?:{0}\b.*{1}|{1}.*\bfor\b.*{0}\b))", source, part);
  };
  return fmt::format(R"((?:\.{0}{1}|(?:^|[^\w.]){0}{2}))", assigned, shortened("\\b" + name),
                     shortened("[^\\w.]" + name));
}

}  // namespace

bound_effect::bound_effect(const program_text& program, const std::string& name, kind what)
    : program_(program),
      name_(name),
      what_(what),
      puts_(fmt::format(
          R"(\b{0}\b(?:\[[^\]]*\])?(?:\.(?:append|appendleft|add|insert|extend|put|put_nowait|push|setdefault|update)\(|\s*\+=)|\b{0}\[[^=]*\]\s*=(?!=)|heappush\([^,]*\b{0}\b)",
          name)),
      takes_(fmt::format(
          R"(\b{0}\b(?:\[[^\]]*\])?\.(?:pop|popleft|popitem|remove|get_nowait|clear|discard)\(|\b{0}\.get\(\s*\)|\bdel\s+[\w.]*\b{0}\b|(?:heappop|heapreplace|heappushpop)\([^,]*\b{0}\b|next\(\s*iter\([^)]*\b{0}\b)",
          name)),
      shortens_(pattern_of_shortening(name)) {}

bool bound_effect::shortens(const std::string& statement) const {
  std::smatch found;
  return statement.find(name_) != std::string::npos &&
         std::regex_search(statement, found, shortens_) &&
         may_shorten(program_, name_, found[0].str());
}

bool bound_effect::puts_in(const std::string& statement) const {
  return statement.find(name_) != std::string::npos && std::regex_search(statement, puts_);
}

bool bound_effect::removes(const std::string& statement) const {
  return statement.find(name_) != std::string::npos && std::regex_search(statement, takes_);
}

bool bound_effect::makes_larger(const std::string& statement) const {
  if (puts_in(statement)) return true;
  const auto value = assigned_to(name_, statement);
  static const std::regex joins(R"(\b(?:cat|concat|vstack|hstack|append)\()");
  return value.find(name_) != std::string::npos && std::regex_search(value, joins);
}

bool bound_effect::empties(const std::string& statement) const {
  if (statement.find(name_) == std::string::npos) return false;
  static const std::string clear = ".clear()";
  if (statement.find(name_ + clear) != std::string::npos) return true;
  if (statement.find("del ") != std::string::npos &&
      statement.find(name_ + "[:]") != std::string::npos)
    return true;
  const auto value = assigned_to(name_, statement);
  return is_nothing(value) || (what_ == kind::object && is_new_object(value));
}

bool bound_effect::takes_out(const std::string& statement, int depth) const {
  if (removes(statement)) return true;
  if (statement.find(name_) != std::string::npos && !assigned_to(name_, statement).empty())
    return true;
  if (depth == deepest) return false;
  return std::ranges::any_of(functions_called(statement), [&](const std::string& function) {
    const auto definition = program_.definition_of(function);
    if (!definition || function == "__init__") return false;
    return std::ranges::any_of(program_.body_of(*definition), [&](const std::string& inside) {
      return takes_out(inside, depth + 1);
    });
  });
}

bool bound_effect::calls_for(const std::string& statement) const {
  return std::ranges::any_of(functions_called(statement), [&](const std::string& function) {
    const auto definition = program_.definition_of(function);
    if (!definition || function == "__init__") return false;
    const std::regex call(fmt::format(R"(\b{}\()", function));
    std::size_t calls = 0;
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (i != *definition && program_.names(i, function) &&
          std::regex_search(program_.at(i), call))
        ++calls;
    }
    if (calls != 1) return false;
    return std::ranges::any_of(program_.body_of(*definition),
                               [&](const std::string& inside) { return makes_larger(inside); });
  });
}

// Later in the function something is added.
bool bound_effect::comes_after(std::size_t line) const {
  const auto function = program_.function_of(line);
  const auto end = function ? program_.end_of(*function) : program_.size();
  for (auto i = program_.end_of(line); i < end; ++i) {
    if (puts_in(program_.at(i))) return true;
  }
  return false;
}

effect bound_effect::of_branch(std::size_t line, bool when_long) const {
  const auto body = program_.body_of(line);
  if (body.empty()) return effect::unknown;
  const bool loops = program_.begins(line, {"while"});
  if (!when_long) {
    if (loops) return effect::limits;
    const bool waits = std::ranges::any_of(body, leaves) &&
                       std::ranges::none_of(body, [&](const auto& one) { return puts_in(one); });
    if (waits || std::ranges::all_of(body, only_says)) return effect::none;
    if (std::ranges::any_of(body, [&](const auto& one) { return puts_in(one) || calls_for(one); }))
      return effect::limits;
    return effect::unknown;
  }
  for (const auto& statement : body) {
    if (takes_out(statement) || puts_in(statement)) return effect::limits;
    if (begins_with(statement, {"break"})) return effect::limits;
    if (leaves(statement) && comes_after(line)) return effect::limits;
  }
  // What is added is in the other branch.
  const auto next = program_.end_of(line);
  if (next < program_.size() && program_.begins(next, {"else", "elif"})) {
    const auto other = program_.body_of(next);
    if (std::ranges::any_of(other, [&](const auto& one) { return puts_in(one); }))
      return effect::limits;
  }
  return effect::none;
}

// return len(self.items) >= self.horizon: what is done where the function's answer is asked for.
effect bound_effect::where_called(std::size_t line, bool when_long) const {
  const auto function = program_.name_of_function(line);
  if (function.empty()) return effect::unknown;
  auto found = effect::unknown;
  for (std::size_t i = 0; i < program_.size(); ++i) {
    const auto at = program_.at(i).find(function);
    if (at == std::string::npos || !program_.begins(i, {"if", "elif", "while"})) continue;
    const auto denied = program_.at(i).find("not ");
    const bool holds = denied == std::string::npos || denied > at ? when_long : !when_long;
    found = std::max(found == effect::unknown ? effect::none : found, of_branch(i, holds));
  }
  return found;
}

effect bound_effect::of(std::size_t line, bool when_long) const {
  const auto& code = program_.at(line);
  const bool branches = program_.begins(line, {"if", "elif", "while"});
  if (branches) {
    const bool denied = code.find("if not ") == 0 || code.find("while not ") == 0;
    return of_branch(line, when_long != denied);
  }
  if (takes_out(code) || puts_in(code)) return effect::limits;
  if (program_.begins(line, {"return"})) return where_called(line, when_long);
  return program_.begins(line, {"assert"}) ? effect::limits : effect::none;
}

}  // namespace memtrace::verdicts
