// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/program/used_up.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>

namespace memtrace::verdicts {

namespace {

class source_of_items {
 public:
  source_of_items(const program_text& program, const bound_effect& container,
                  const std::string& name)
      : program_(program), container_(container), name_(name) {}

  [[nodiscard]] std::optional<std::size_t> line() const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, name_) || !container_.makes_larger(program_.at(i))) continue;
      auto line = while_there_is_one(i);
      if (!line && comes_out_of_what_ends(i)) line = i;
      if (!line) line = where_called(i);
      if (!line) return std::nullopt;
      found = line;
    }
    return found;
  }

 private:
  // Something is taken out of it, and nothing put into it after it was made.
  [[nodiscard]] bool is_used_up(const std::string& source) const {
    if (source == name_) return false;
    const bound_effect what(program_, source);
    bool loses = false;
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, source) || program_.name_of_function(i) == "__init__") continue;
      if (what.puts_in(program_.at(i))) return false;
      const auto value = assigned_to(source, program_.at(i));
      const bool is_anew = !value.empty() && value.find(source) == value.npos;
      if (is_anew && program_.loops_around(i) != 0) return false;
      loses = loses || what.removes(program_.at(i));
    }
    return loses;
  }

  // images.append(unlabelled.pop(place)), where nothing is put into `unlabelled` any more.
  [[nodiscard]] bool comes_out_of_what_ends(std::size_t line) const {
    static const std::regex taken(
        R"(\b([A-Za-z_]\w*)\.(?:pop|popleft|popitem|get_nowait|heappop)\((?!\s*["']))");
    const auto& code = program_.at(line);
    auto ends = [&](const std::string& text) {
      std::smatch found;
      return std::regex_search(text, found, taken) && is_used_up(found[1].str());
    };
    if (ends(code)) return true;
    static const std::regex word(R"([A-Za-z_]\w*)");
    const auto function = program_.function_of(line);
    for (auto i = function ? *function + 1 : std::size_t{0}; i < line; ++i) {
      if (!std::regex_search(program_.at(i), taken)) continue;
      for (auto at = std::sregex_iterator(code.begin(), code.end(), word);
           at != std::sregex_iterator(); ++at) {
        const auto value = assigned_to(at->str(), program_.at(i));
        if (!value.empty() && ends(value)) return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::optional<std::size_t> where_called(std::size_t line) const {
    const auto function = program_.name_of_function(line);
    if (function.empty() || function == "__init__" || function == "main") return std::nullopt;
    const std::regex call(fmt::format(R"(\b{}\()", function));
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, function) || program_.begins(i, {"def", "async def"})) continue;
      if (!std::regex_search(program_.at(i), call)) continue;
      found = while_there_is_one(i);
      if (!found) return std::nullopt;
    }
    return found;
  }

  // The condition under which the line is reached.
  [[nodiscard]] std::optional<std::size_t> while_there_is_one(std::size_t line) const {
    static const std::regex is_there(R"(^if\s+([A-Za-z_]\w*)(?:\s+is\s+not\s+None)?:)");
    static const std::regex is_left(R"(^(?:if|while)\s+(?:\w+\.)*(\w+):)");
    static const std::regex none_left(
        R"(^if\s+(?:not\s+(?:\w+\.)*(\w+)|len\([\w.]+\)\s*==\s*0|([A-Za-z_]\w*)\s+is\s+None):)");
    for (auto at = program_.above(line); at; at = program_.above(*at)) {
      std::smatch what;
      if (std::regex_search(program_.at(*at), what, is_there) && is_next(what[1].str(), *at))
        return at;
      if (std::regex_search(program_.at(*at), what, is_left) && is_used_up(what[1].str()))
        return at;
      if (asks_for_what_is_left(program_.at(*at))) return at;
      if (program_.begins(*at, {"def", "async def", "class"})) break;
    }
    const auto function = program_.function_of(line);
    for (auto i = function ? *function + 1 : line; i < line; ++i) {
      std::smatch what;
      if (!std::regex_search(program_.at(i), what, none_left)) continue;
      if (what[1].matched && !is_a_container(what[1].str())) continue;
      if (what[2].matched && !is_next(what[2].str(), i)) continue;
      const auto body = program_.body_of(i);
      if (body.size() == 1 && body[0].starts_with("return")) return i;
    }
    return std::nullopt;
  }

  // if (step + 1) % LENGTH == 0 and tasks:
  [[nodiscard]] bool asks_for_what_is_left(const std::string& code) const {
    static const std::regex part(R"(\band\s+(?:\w+\.)*(\w+)(?=\s+and\b|\s*:))");
    if (!code.starts_with("if") || code.find(" or ") != code.npos) return false;
    for (auto at = std::sregex_iterator(code.begin(), code.end(), part);
         at != std::sregex_iterator(); ++at) {
      if (is_used_up((*at)[1].str())) return true;
    }
    return false;
  }

  // Not a switch: if not self.training: return
  [[nodiscard]] bool is_a_container(const std::string& name) const {
    const std::regex used(fmt::format(
        R"(\b{0}\.(?:pop|popleft|popitem|get|get_nowait|append|extend|remove|add|put|items|keys|values)\(|\b{0}\[|\bin\s+(?:\w+\.)*{0}\b|\b{0}\s*=(?!=)\s*(?:\[|\(|\{{|(?:\w+\.)*(?:list|deque|set|dict|next|sorted)\())",
        name));
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (program_.names(i, name) && std::regex_search(program_.at(i), used)) return true;
    }
    return false;
  }

  // chunk = next(unread, None)
  [[nodiscard]] bool is_next(const std::string& name, std::size_t before) const {
    for (std::size_t i = 0; i < before; ++i) {
      if (!program_.names(i, name)) continue;
      const auto value = assigned_to(name, program_.at(i));
      if (value.starts_with("next(") && value.find("None") != value.npos) return true;
      if (is_rationed(value)) return true;
    }
    return false;
  }

  // min(wanted, self.total - self.spent), also of a function that is called.
  [[nodiscard]] bool is_rationed(const std::string& value) const {
    static const std::regex rest(R"(\bm(?:in|ax)\(.*\s-\s.*\))");
    if (std::regex_search(value, rest)) return true;
    static const std::regex call(R"(^(?:\w+\.)+(\w+)\(.*\)$)");
    std::smatch found;
    if (!std::regex_search(value, found, call)) return false;
    const auto definition = program_.definition_of(found[1].str());
    if (!definition) return false;
    const auto body = program_.body_of(*definition);
    return std::ranges::any_of(body, [](const auto& one) { return std::regex_search(one, rest); });
  }

  const program_text& program_;
  const bound_effect& container_;
  const std::string& name_;
};

}  // namespace

std::optional<std::size_t> line_that_runs_out(const program_text& program,
                                              const bound_effect& container,
                                              const std::string& name) {
  return source_of_items(program, container, name).line();
}

}  // namespace memtrace::verdicts
