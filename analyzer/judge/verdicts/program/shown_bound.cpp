// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/program/shown_bound.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <regex>

#include "analyzer/judge/verdicts/program/bound_effect.h"
#include "analyzer/judge/verdicts/program/counted_bound.h"
#include "analyzer/judge/verdicts/program/cut_dimension.h"
#include "analyzer/judge/verdicts/program/emptied_later.h"
#include "analyzer/judge/verdicts/program/key_domain.h"
#include "analyzer/judge/verdicts/program/other_names.h"
#include "analyzer/judge/verdicts/program/other_objects.h"
#include "analyzer/judge/verdicts/program/program_numbers.h"
#include "analyzer/judge/verdicts/program/program_text.h"

namespace memtrace::verdicts {

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

class search {
 public:
  search(const program_text& program, std::string name, const bounded_container& what)
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
  const search in(by_this_name, std::move(name), what);
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
