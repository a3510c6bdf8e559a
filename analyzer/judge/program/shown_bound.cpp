// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/shown_bound.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <regex>

#include "analyzer/judge/program/bound_effect.h"
#include "analyzer/judge/program/counted_bound.h"
#include "analyzer/judge/program/cuts.h"
#include "analyzer/judge/program/key_domain.h"
#include "analyzer/judge/program/other_names.h"
#include "analyzer/judge/program/program_numbers.h"
#include "analyzer/judge/program/program_text.h"

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

namespace {

// What a line says of how long the container gets.
enum class says : std::uint8_t {
  longer_than,   // whether it is longer: what follows decides
  shorter_than,  // whether it is shorter
  is_cut,        // it cannot hold more
  is_ring,
  made_at_full_length,  // its length says nothing
};

struct line_pattern {
  std::regex text;
  says what;
};

[[nodiscard]] std::vector<line_pattern> patterns_for(const std::string& name) {
  const std::string length = fmt::format(
      R"((?:len\(\s*[\w.\[\]'"]*\b{0}\b[^()]*\)|\b{0}(?:\[[^\[\]]*\])*\.(?:shape\[-?\d\]|size\((?:dim=)?-?\d\)|qsize\(\))))",
      name);
  const std::string operand =
      R"((min\((?:[^()]|\([^()]*\))*\)|len\(\s*[\w.]+\s*\)|[A-Za-z_][\w.]*\b(?!\s*[(\[])|\d[\d_]*\b))";
  const std::string short_one = R"(\s*(?:<=|<)\s*)";
  const std::string long_one = R"(\s*(?:>=|==|>)\s*)";
  const std::string makes =
      fmt::format(R"(\b{}\b(?:\s*:[^=]+|\s*,[^=]*)?\s*=\s*(?:[^=]*,\s*)?)", name);
  // Not rows = self.rows[-12:], which leaves what is shortened as it was.
  const std::string same = fmt::format(
      R"((?:\.{0}\b(?:\[[^\[\]]*\])?\s*=(?!=)\s*.*\b{0}\b.*|(?:^|[^\w.]){0}\b(?:\[[^\[\]]*\])?\s*=(?!=)\s*(?:.*[^\w.])?{0}\b.*))",
      name);
  // Of the whole, or of each element: {key: rows[-n:] for key, rows in self.items.items()}.
  // Of a tensor in any dimension: rows[:, -n:], rows[..., -n:, :].
  const std::string first = "\\[" + std::string(whole_before);
  const std::string ends = std::string(whole_after) + R"(\]\)?(?:\.\w+\(\))*\)?(?:$|\s+for\b))";
  return {
      {std::regex(length + short_one + operand), says::shorter_than},
      {std::regex(length + long_one + operand), says::longer_than},
      {std::regex("(?:^|[^\\w.])" + operand + R"(\s*(?:>=|>)\s*)" + "[\\w.]*?" + length),
       says::shorter_than},
      {std::regex("(?:^|[^\\w.])" + operand + R"(\s*(?:<=|<|==)\s*)" + "[\\w.]*?" + length),
       says::longer_than},
      // A ring that is written to; all but the last, or the first, dropped; made at its full
      // length.
      {std::regex(fmt::format(R"(\b{}\[[^\]%]*%\s*)", name) + operand + R"([^\]]*\]\s*=(?!=))"),
       says::is_ring},
      {std::regex(same + first + R"(-\s*)" + operand + R"(\s*:)" + ends), says::is_cut},
      {std::regex(same + first + R"(:\s*)" + operand + ends), says::is_cut},
      {std::regex(fmt::format(R"(\bdel\s+[\w.]*\b{}\[\s*:\s*-\s*)", name) + operand + R"(\s*\])"),
       says::is_cut},
      {std::regex(fmt::format(R"(\bdel\s+[\w.]*\b{}\[\s*)", name) + operand + R"(\s*:\s*\])"),
       says::is_cut},
      {std::regex(fmt::format(R"(\b{}\s*=\s*.*\bn(?:largest|smallest)\(\s*)", name) + operand),
       says::is_cut},
      {std::regex(makes + R"(\[\s*None\s*\]\s*\*\s*)" + operand), says::made_at_full_length},
      {std::regex(makes + R"((?:dict\.fromkeys\(|[\[{].*\bNone\s+for\s+\w+\s+in\s+)range\(\s*)" +
                  operand),
       says::made_at_full_length}};
}

[[nodiscard]] shown_bound made(const std::string& said_by, std::uint64_t limit, std::size_t line,
                               bound_kind kind = bound_kind::length) {
  const bool is_number =
      said_by.empty() || std::isdigit(static_cast<unsigned char>(said_by[0])) != 0;
  return {
      is_number ? std::string() : said_by, limit, {}, static_cast<std::uint32_t>(line + 1), kind};
}

class bound_search {
 public:
  bound_search(const program_text& program, std::string name, const bounded_container& what)
      : program_(program),
        numbers_(program, what.numbers),
        name_(std::move(name)),
        what_(what),
        effects_(program, name_) {}

  [[nodiscard]] std::optional<shown_bound> by_length() const {
    const auto patterns = patterns_for(name_);
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (!program_.names(i, name_)) continue;
      for (const auto& pattern : patterns) {
        std::smatch found;
        if (!std::regex_search(program_.at(i), found, pattern.text)) continue;
        if (is_of_another_level(found[0].str())) continue;
        const bool cuts = pattern.what == says::is_cut;
        if (cuts && !may_shorten(program_, name_, found[0].str())) continue;
        if (auto bound = of_match(i, pattern.what, found[1].str())) return bound;
      }
    }
    return std::nullopt;
  }

  // Where the keys come again what was there goes.
  [[nodiscard]] std::optional<shown_bound> by_keys() const {
    const auto found = domain_of_keys(program_, numbers_, name_);
    if (!found) return std::nullopt;
    const auto held = what_.length == 0 ? what_.blocks : what_.length;
    if (found->keys != 0 && found->keys < held) return std::nullopt;
    // Drawn from very many, hardly any comes again.
    constexpr std::uint64_t many = 4;
    if (found->drawn && found->keys > many * held) return std::nullopt;
    return made(found->said_by, found->keys, found->line, bound_kind::keys);
  }

  [[nodiscard]] std::optional<shown_bound> by_count() const {
    const auto found = counted_bound(program_, numbers_, effects_, what_.steps, what_.length);
    if (!found) return std::nullopt;
    return made(found->said_by, 0, found->line);
  }

  [[nodiscard]] std::optional<shown_bound> by_emptying() const {
    if (what_.variable.find("].") != what_.variable.npos) return std::nullopt;
    auto found = emptied_later(program_, numbers_, effects_, what_.steps, what_.length);
    // With the object that has it: memory = Memory().
    std::string_view owner = what_.variable.substr(0, what_.variable.find('['));
    for (auto dot = owner.rfind('.'); !found && dot != owner.npos; dot = owner.rfind('.')) {
      owner = owner.substr(0, dot);
      const auto name = last_name(owner);
      if (name.empty() || name == "self") break;
      const bound_effect object(program_, name, bound_effect::kind::object);
      found = emptied_later(program_, numbers_, object, what_.steps, what_.length);
    }
    if (!found) return std::nullopt;
    return made(found->said_by, found->steps, found->line, bound_kind::emptied);
  }

 private:
  // len(self.by_class) >= self.capacity, where it is by_class[label] that gets longer.
  [[nodiscard]] bool is_of_another_level(const std::string& match) const {
    if (!what_.in_elements && !what_.has_elements) return false;
    const bool names_element = match.find(name_ + "[") != std::string::npos;
    return names_element != what_.in_elements;
  }

  [[nodiscard]] std::optional<shown_bound> of_match(std::size_t line, says what,
                                                    const std::string& operand) const {
    const bool own_length =
        operand.starts_with("len(") && operand.find(name_ + ")") != std::string::npos;
    const auto limit = own_length ? what_.length : numbers_.value_of(operand);
    const bool compares = what == says::longer_than || what == says::shorter_than;
    const auto follows = compares ? effects_.of(line, what == says::longer_than) : effect::limits;
    if (limit < 2 || follows == effect::none) return std::nullopt;
    // It is compared after the next one has been added.
    const auto more = what == says::longer_than && follows == effect::limits &&
                              program_.at(line).find(">=") == std::string::npos
                          ? 1U
                          : 0U;
    const auto held = what == says::made_at_full_length ? what_.blocks : what_.length;
    const bool may_be_full = follows == effect::limits && what_.length <= limit + more;
    if (limit + more < held || (limit <= held && !may_be_full)) return std::nullopt;
    return made(operand, std::max(limit, held), line);
  }

  const program_text& program_;
  program_numbers numbers_;
  std::string name_;
  const bounded_container& what_;
  bound_effect effects_;
};

}  // namespace

std::optional<shown_bound> bound_in(const program_text& program, const bounded_container& what) {
  const auto inner = what.variable.rfind("].");
  const bool of_elements = inner != what.variable.npos;
  auto name = name_in(
      program, of_elements && what.is_that ? what.variable.substr(inner + 2) : what.variable);
  if (name.empty() || !program.names(name)) return std::nullopt;
  const auto by_this_name =
      by_one_name(apart_from_others(program, what.variable, what.holder), name);
  const bound_search in(by_this_name, std::move(name), what);
  if (auto found = in.by_length()) return found;
  // What an element's attribute keeps grows with the elements only where there are more of them.
  if (of_elements && !what.gets_longer) return std::nullopt;
  if (!what.in_elements) {
    if (auto found = in.by_keys()) return found;
  }
  if (auto found = in.by_count()) return found;
  return in.by_emptying();
}

}  // namespace memtrace::verdicts
