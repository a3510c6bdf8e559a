// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/told_proofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "analyzer/base/text/enum_name.h"
#include "analyzer/base/text/numbers.h"
#include "analyzer/judge/program/prove.h"
#include "memtrace/info_keys.h"

namespace memtrace::verdicts {

namespace {

using format::proved_separator;

constexpr char expression_is_gone[] = "(removed)";
constexpr std::string_view bounded = "bounded by ";
constexpr std::string_view doubtful = "doubt: ";
constexpr std::string_view is_reallocated = "reallocated";
constexpr std::string_view is_made_of_itself = "made of itself";
constexpr std::string_view no_cache = "no cache";
constexpr std::string_view more_lines = "more lines";
constexpr std::string_view read_words[] = {"", "never read", "read alone",
                                           "read with others at line "};

// Fewer are an error, more are of a later version.
struct field {
  enum { stack, path, owner, kept_in, kept_at, holder, said, file, line, value, more, count };
};
[[nodiscard]] std::optional<std::array<std::string_view, field::count>> split(
    std::string_view text) {
  std::array<std::string_view, field::count> found;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto end = text.find(proved_separator);
    found[i] = text.substr(0, end);
    if (end == text.npos) return i + 1 == found.size() ? std::optional(found) : std::nullopt;
    text.remove_prefix(end + 1);
  }
  return found;
}

template <class Kind>
[[nodiscard]] std::optional<Kind> named(std::string_view name) {
  const auto& all = text::enum_names<Kind>;
  const auto found = name.empty() ? all.end() : std::ranges::find(all, name);
  if (found == all.end()) return std::nullopt;
  return static_cast<Kind>(found - all.begin());
}

[[nodiscard]] program::readings readings_in(std::string_view facts, const std::string& file) {
  program::readings made;
  for (std::size_t how = 1; how < std::size(read_words); ++how) {
    const auto at = facts.find(read_words[how]);
    if (at == facts.npos) continue;
    const bool has_more = facts.find(more_lines) != facts.npos;
    made = {static_cast<program::read_how>(how), file, 0, has_more};
    if (made.how != program::read_how::with_others) continue;
    const auto line = text::number_in<std::uint32_t>(facts.substr(at + read_words[how].size()));
    if (line) made.line = *line;
    if (!line) made = {};
  }
  return made;
}

[[nodiscard]] std::optional<told_proof> read(const trace::dictionary& names,
                                             std::string_view text) {
  const auto part = split(text);
  if (!part) return std::nullopt;
  const auto& told = *part;
  const auto of_stack = text::number_in<std::uint32_t>(told[field::stack]);
  const auto at_line = text::number_in<std::uint32_t>(told[field::line]);
  const auto kept_at = text::number_in<std::uint32_t>(told[field::kept_at]);
  const auto most = text::number_in(told[field::value]);
  if (!of_stack || !at_line || !kept_at || !most || !names.knows_stack(*of_stack)) {
    return std::nullopt;
  }
  const std::string in_file(told[field::file]);
  told_proof made{
      .stack = names.stack_of(*of_stack),
      .path = std::string(told[field::path]),
      .owner = std::string(told[field::owner]),
      .kept_in = std::string(told[field::kept_in]),
      .kept_at = *kept_at,
      .holder = std::string(told[field::holder]),
      .bound = std::nullopt,
      .doubt = std::nullopt,
      .reallocated = told[field::more].find(is_reallocated) != told[field::more].npos,
      .made_of_itself = told[field::more].find(is_made_of_itself) != told[field::more].npos,
      .read = readings_in(told[field::more], in_file),
      .is_no_cache = told[field::more].find(no_cache) != told[field::more].npos};
  if (told[field::said].starts_with(bounded)) {
    const auto kind = named<program::bound_kind>(told[field::said].substr(bounded.size()));
    if (!kind) return std::nullopt;
    made.bound = program::bound{*kind, in_file, *at_line, expression_is_gone, *most};
  } else if (told[field::said].starts_with(doubtful)) {
    const auto kind = named<program::doubt_kind>(told[field::said].substr(doubtful.size()));
    if (!kind) return std::nullopt;
    made.doubt = program::doubt{*kind, in_file, *at_line, expression_is_gone};
  }
  return made;
}

}  // namespace

bool told_proof::is_about(trace::stack_id of, const retainer& held_by) const {
  return stack == of && path == held_by.path && owner == held_by.owner && kept_in == held_by.file &&
         kept_at == held_by.line && holder == held_by.holder;
}

std::vector<told_proof> proofs_of(const trace::dictionary& names, const findings& found) {
  std::vector<told_proof> all;
  std::set<std::string> seen;  // a line is a suspect of several verdicts
  const auto add = [&](const suspect& who, const retainer& kept) {
    told_proof made{who.stack,        kept.path,           kept.owner, kept.file,
                    kept.line,        kept.holder,         kept.bound, kept.doubt,
                    kept.reallocated, kept.made_of_itself, kept.read,  kept.is_no_cache};
    if (all.size() < format::most_proofs && seen.insert(written(names, made)).second) {
      all.push_back(std::move(made));
    }
  };
  for (const auto& about : found.verdicts) {
    for (const auto* const some : {&about.suspects, &about.unnamed}) {
      for (const auto& who : *some) {
        for (const auto& kept : who.retained_by) add(who, kept);
      }
    }
  }
  return all;
}

std::string written(const trace::dictionary& names, const told_proof& proof) {
  std::string said, in_file;
  std::uint32_t at_line = 0;
  if (proof.bound) {
    said = fmt::format("{}{}", bounded, program::name_of(proof.bound->kind));
    in_file = proof.bound->file;
    at_line = proof.bound->line;
  } else if (proof.doubt) {
    said = fmt::format("{}{}", doubtful, program::name_of(proof.doubt->kind));
    in_file = proof.doubt->file;
    at_line = proof.doubt->line;
  }
  // One field is for files.
  const bool needs_file = proof.read.line != 0;
  const bool has_place = !needs_file || in_file.empty() || in_file == proof.read.file;
  std::string read(has_place ? read_words[static_cast<std::size_t>(proof.read.how)] : "");
  if (needs_file && has_place) {
    in_file = proof.read.file;
    read += std::to_string(proof.read.line);
  }
  const auto facts = fmt::format(
      "{} {} {} {} {}", proof.is_no_cache ? no_cache : "", proof.reallocated ? is_reallocated : "",
      proof.made_of_itself ? is_made_of_itself : "", proof.read.has_more ? more_lines : "", read);
  return fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}{0}{6}{0}{7}{0}{8}{0}{9}{0}{10}{0}{11}",
                     proved_separator, names.number_of(proof.stack), proof.path, proof.owner,
                     proof.kept_in, proof.kept_at, proof.holder, said, in_file, at_line,
                     proof.bound ? proof.bound->value : 0, facts);
}

std::vector<told_proof> told_proofs(const trace::dictionary& names) {
  std::vector<told_proof> all;
  for (const auto& text : names.proofs()) {
    if (auto one = read(names, text)) all.push_back(std::move(*one));
  }
  return all;
}

}  // namespace memtrace::verdicts
