// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/keeper_words.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/parts.h"
#include "analyzer/base/text/units.h"
#include "analyzer/judge/verdicts/held_path.h"

namespace memtrace::verdicts {

namespace {

constexpr std::string_view element = "[…]";

[[nodiscard]] std::string with_article(std::string_view noun) {
  constexpr std::string_view vowels = "aeiouAEIOU";
  const bool vowel = !noun.empty() && vowels.find(noun.front()) != vowels.npos;
  return fmt::format("{} {}", vowel ? "an" : "a", noun);
}

// from fit (train.py:80), global of model.py, closure of step (train.py:12)
[[nodiscard]] std::string origin(const retainer& keeper) {
  constexpr std::string_view local = "local of ";
  const auto place = keeper.file.empty() ? std::string()
                     : keeper.line == 0
                         ? fmt::format(" ({})", text::file_name(keeper.file))
                         : fmt::format(" ({}:{})", text::file_name(keeper.file), keeper.line);
  if (keeper.owner.empty()) return place;
  if (keeper.owner.starts_with(local)) {
    return fmt::format(", from {}{}", keeper.owner.substr(local.size()), place);
  }
  return fmt::format(", {}{}", keeper.owner, place);
}

}  // namespace

std::string variable_of(const retainer& keeper) {
  if (keeper.grows_in) return keeper.grows_in->variable;
  std::string_view path = keeper.path;
  const auto graph = path.find(".grad_fn");
  if (graph != path.npos && graph != 0) path = path.substr(0, graph);
  // Its container is the innermost one.
  if (keeper.grows_itself && !path.ends_with(']')) return std::string(path);
  if (const auto at = path.rfind(element); at != path.npos && at != 0) path = path.substr(0, at);
  while (path.ends_with(element)) path.remove_suffix(element.size());
  return std::string(path);
}

bool is_bounded_by_kind(const retainer& keeper) {
  if ((keeper.flags & format::held_bounded) == 0) return false;
  if (keeper.grows_in) return keeper.grows_in->most != 0;
  // A full one does not grow: it is in another one that does.
  if (keeper.is_full) return false;
  return !(keeper.gets_longer && !keeper.container.empty() && limit_of(keeper.container) == 0);
}

std::string_view container_class(const retainer& keeper) {
  const std::string_view whole = keeper.container;
  return whole.substr(0, std::min(whole.find('('), whole.size()));
}

std::string describe(const retainer& keeper) {
  if ((keeper.flags & format::held_unreachable) != 0) {
    return "no name leads to it: a reference cycle, or C++ alone";
  }
  std::string words = fmt::format("`{}`", variable_of(keeper));
  const bool is_another = keeper.grows_in && keeper.grows_in->length != keeper.length;
  if (is_another) {
    words += ", of " + text::format_count(keeper.grows_in->length);
  } else if (!keeper.container.empty()) {
    words += ", " + with_article(keeper.container);
    if (keeper.length != 0) words += " of " + text::format_count(keeper.length);
    if (!keeper.holder.empty()) words += " in " + keeper.holder;
  } else if (!keeper.holder.empty()) {
    words += ", in " + keeper.holder;
  }
  words += origin(keeper);
  if ((keeper.flags & format::held_graph) != 0) words += ", through autograd's graph";
  return words;
}

}  // namespace memtrace::verdicts
