// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/signs_of_end.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <regex>
#include <set>
#include <vector>

#include "analyzer/base/text/numbers.h"
#include "analyzer/judge/program/other_names.h"

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

namespace {

template <std::size_t Count>
[[nodiscard]] bool is_one_of(const std::array<std::string_view, Count>& words,
                             const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

// An attribute may have any text for a name, which is no pattern then.
[[nodiscard]] bool is_plain(std::string_view name) {
  return std::ranges::all_of(
      name, [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; });
}

// "replay_limit": replay, limit.
[[nodiscard]] std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const unsigned char letter : name) {
    if (letter == '_') {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(std::tolower(letter));
    }
  }
  std::erase(words, "");
  return words;
}

// "n_estimators" of "estimators_", "max_snapshots" of "snapshots", "num_prototype" of "prototypes".
[[nodiscard]] bool counts(std::string_view name, std::string_view container) {
  constexpr std::array<std::string_view, 4> say = {"n", "num", "max", "number"};
  const auto words = words_of(name);
  const auto of = words_of(container);
  if (words.size() != of.size() + 1 || !is_one_of(say, words[0])) return false;
  const auto singular = [](std::string_view word) {
    return word.ends_with('s') ? word.substr(0, word.size() - 1) : word;
  };
  return std::equal(of.begin(), of.end(), words.begin() + 1, [&](const auto& one, const auto& two) {
    return singular(one) == singular(two);
  });
}

// Of a function that names the container.
[[nodiscard]] std::optional<std::size_t> line_with(const program_text& program,
                                                   const std::string& container,
                                                   const std::string& name) {
  const std::regex word("\\b" + name + "\\b");
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!program.names(i, name) || !std::regex_search(program.at(i), word)) continue;
    const auto function = program.function_of(i);
    if (!function || program.name_of_function(i) == "__init__") continue;
    for (auto k = *function + 1; k < program.end_of(*function); ++k) {
      if (program.names(k, container)) return i;
    }
  }
  return std::nullopt;
}

}  // namespace

bool names_a_capacity(std::string_view name) {
  constexpr std::array<std::string_view, 8> say = {"capacity", "cap",   "limit",  "maxlen",
                                                   "maxsize",  "quota", "budget", "maximum"};
  constexpr std::array<std::string_view, 9> most_of = {
      "size", "items", "entries", "elements", "samples", "frames", "keep", "kept", "history"};
  constexpr std::array<std::string_view, 10> sized = {
      "buffer", "queue", "bank", "memory", "mem", "cache", "replay", "pool", "window", "history"};
  const auto words = words_of(name);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_one_of(say, words[i])) return true;
    if (i + 1 == words.size()) break;
    if (words[i] == "max" && is_one_of(most_of, words[i + 1])) return true;
    if (is_one_of(sized, words[i]) && words[i + 1] == "size") return true;
  }
  return false;
}

std::optional<named_limit> limit_beside(const program_text& program, const std::string& container,
                                        std::string_view numbers, std::uint64_t reached) {
  while (!numbers.empty()) {
    const auto one = numbers.substr(0, numbers.find(','));
    numbers.remove_prefix(std::min(numbers.size(), one.size() + 1));
    const auto equals = one.find('=');
    if (equals == one.npos) continue;
    const std::string name(one.substr(0, equals));
    const auto value = text::number_in(one.substr(equals + 1)).value_or(0);
    if (value <= reached || !is_plain(name)) continue;
    if (!names_a_capacity(name) && !counts(name, container)) continue;
    if (const auto line = line_with(program, container, name))
      return named_limit{std::string(one), *line};
  }
  return std::nullopt;
}

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

namespace {

// Of its function the outermost loop that the line is in.
[[nodiscard]] std::optional<std::size_t> outermost_loop(const program_text& program,
                                                        std::size_t line) {
  std::optional<std::size_t> found;
  for (auto at = program.above(line); at; at = program.above(*at)) {
    if (program.begins(*at, {"def", "async def", "class"})) break;
    if (program.begins(*at, {"for", "while", "async for"})) found = at;
  }
  return found;
}

// batches = [sentences[at:at + 4] for at in range(0, len(sentences), 4)] … for batch in batches:
// also of an object, batches = Batches(sentences, 4)
[[nodiscard]] bool is_over_parts(const program_text& program, std::size_t loop,
                                 const std::string& container) {
  static const std::regex over(R"(\bin\s+(?:enumerate\()?(\w+)\)?:$)");
  std::smatch found;
  if (!std::regex_search(program.at(loop), found, over)) return false;
  const std::regex parts(fmt::format(R"([\[(].*\b{}\b)", container));
  for (std::size_t i = 0; i < loop; ++i) {
    if (!program.names(i, container)) continue;
    const auto value = assigned_to(found[1].str(), program.at(i));
    if (std::regex_search(value, parts)) return true;
  }
  return false;
}

// for step in range(steps): … sentences[4 * step:4 * step + 4], without a remainder.
[[nodiscard]] bool is_over_its_numbers(const program_text& program, std::size_t loop,
                                       const std::string& container) {
  static const std::regex over(R"(^for\s+\(?(\w+)\b.*\bin\s+(?:range|enumerate)\()");
  std::smatch found;
  if (!std::regex_search(program.at(loop), found, over)) return false;
  const std::regex at(fmt::format(R"(\b{}\[[^\]%]*\b{}\b[^\]%]*\])", container, found[1].str()));
  for (auto i = loop + 1; i < program.end_of(loop); ++i) {
    if (program.names(i, container) && std::regex_search(program.at(i), at)) return true;
  }
  return false;
}

}  // namespace

bool is_gone_through_once(const program_text& program, const std::string& container,
                          const std::vector<std::uint32_t>& lines) {
  if (container.empty()) return false;
  const auto by_this_name = by_one_name(program, container);
  const std::regex through(
      fmt::format(R"(^(?:async )?for\b.*\bin\b.*\b{}\b(?!\s*[.\[]))", container));
  // The outermost loop of all, which no other begins again.
  for (auto at = lines.rbegin(); at != lines.rend(); ++at) {
    if (*at == 0 || *at > program.size()) continue;
    const auto loop = outermost_loop(by_this_name, *at - std::size_t{1});
    if (!loop) continue;
    return std::regex_search(by_this_name.at(*loop), through) ||
           is_over_parts(by_this_name, *loop, container) ||
           is_over_its_numbers(by_this_name, *loop, container);
  }
  return false;
}

}  // namespace memtrace::verdicts
