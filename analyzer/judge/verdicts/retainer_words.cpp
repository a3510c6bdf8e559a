// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/retainer_words.h"

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
[[nodiscard]] std::string origin(const retainer& held_by) {
  constexpr std::string_view local = "local of ";
  const auto place = held_by.file.empty() ? std::string()
                     : held_by.line == 0
                         ? fmt::format(" ({})", text::file_name(held_by.file))
                         : fmt::format(" ({}:{})", text::file_name(held_by.file), held_by.line);
  if (held_by.owner.empty()) return place;
  if (held_by.owner.starts_with(local)) {
    return fmt::format(", from {}{}", held_by.owner.substr(local.size()), place);
  }
  return fmt::format(", {}{}", held_by.owner, place);
}

}  // namespace

std::string variable_of(const retainer& held_by) {
  if (held_by.grows_in) return held_by.grows_in->variable;
  std::string_view path = held_by.path;
  const auto graph = path.find(".grad_fn");
  if (graph != path.npos && graph != 0) path = path.substr(0, graph);
  // Of a kept error, with all that its frames have, it is the error.
  const auto error = path.find(".__traceback__");
  if (error != path.npos && error != 0) path = path.substr(0, error);
  // Its container is the innermost one.
  if (held_by.grows_itself && !path.ends_with(']')) return std::string(path);
  if (const auto at = path.rfind(element); at != path.npos && at != 0) path = path.substr(0, at);
  while (path.ends_with(element)) path.remove_suffix(element.size());
  return std::string(path);
}

namespace {

// A statement that runs makes it, and the program's text shows which one.
[[nodiscard]] bool is_of_comprehension(const retainer& held_by) {
  return (held_by.flags & format::held_statement) != 0 && held_by.bound &&
         held_by.bound->kind == program::bound_kind::loop;
}

}  // namespace

bool is_bounded_by_kind(const retainer& held_by) {
  if ((held_by.flags & format::held_bounded) == 0) return false;
  if (held_by.grows_in) return held_by.grows_in->most != 0;
  // A full one does not grow: it is in another one that does.
  if (held_by.is_full) return false;
  return !(held_by.gets_longer && !held_by.container.empty() && limit_of(held_by.container) == 0);
}

namespace {

// trainer._data_connector._hooks.model.outputs: through what a library keeps to itself nobody would look for
// it. LitModel.outputs
[[nodiscard]] std::string shown_variable(const retainer& held_by) {
  auto name = variable_of(held_by);
  const auto last = name.rfind('.');
  const auto first_hidden = name.find("._");
  const auto second_hidden = name.find("._", first_hidden + 1);
  const bool is_hidden =
      first_hidden != name.npos && second_hidden < last && name.find('[') == name.npos;
  if (!is_hidden || held_by.holder.empty() || grows_further_out(held_by)) return name;
  return held_by.holder + name.substr(last);
}

}  // namespace

std::string name_of(const retainer& held_by) {
  if (is_of_comprehension(held_by)) return "a comprehension";
  if ((held_by.flags & format::held_statement) != 0) {
    const auto what = container_class(held_by);
    return with_article(what.empty() ? "object" : what) + " without a name";
  }
  const auto name = shown_variable(held_by);
  if (name.empty()) return name;
  return held_by.also.empty() ? fmt::format("`{}`", name)
                              : fmt::format("`{}` and `{}`", name, held_by.also);
}

bool grows_further_out(const retainer& held_by) {
  const auto innermost = held_by.path.substr(0, held_by.path.rfind('['));
  return held_by.grows_in && held_by.grows_in->variable != innermost;
}

std::string_view container_class(const retainer& held_by) {
  // Of one further out no class is recorded: what has no keys counts as a list.
  if (grows_further_out(held_by)) return held_by.grows_in->keys != 0 ? "dict" : "list";
  const std::string_view whole = held_by.container;
  return whole.substr(0, std::min(whole.find('('), whole.size()));
}

std::string describe(const retainer& held_by) {
  if ((held_by.flags & format::held_unreachable) != 0) {
    return "no name leads to it: a reference cycle, or C++ alone";
  }
  if (is_of_comprehension(held_by)) return "what a comprehension makes";
  if ((held_by.flags & format::held_statement) != 0) {
    const auto many = held_by.length == 0 ? "" : " (" + text::format_count(held_by.length) + ")";
    return name_of(held_by) + many +
           ": a statement that runs makes it or passes it on, or C++ has it";
  }
  auto words = fmt::format("`{}`", shown_variable(held_by));
  if (grows_further_out(held_by)) {
    words += fmt::format(", {} {}", held_by.grows_in->keys != 0 ? "a dict of" : "with",
                         text::format_count(held_by.grows_in->length));
    if (held_by.grows_in->keys == 0)
      words += held_by.grows_in->length == 1 ? " element" : " elements";
  } else if (!held_by.container.empty()) {
    words += ", " + with_article(held_by.container);
    if (held_by.length != 0) words += " of " + text::format_count(held_by.length);
    if (!held_by.holder.empty()) words += " in " + held_by.holder;
  } else if (!held_by.holder.empty()) {
    words += ", in " + held_by.holder;
  }
  words += origin(held_by);
  if ((held_by.flags & format::held_graph) != 0) words += ", through autograd's graph";
  if (!held_by.also.empty())
    words += fmt::format("; and `{}`, which has the same memory", held_by.also);
  return words;
}

}  // namespace memtrace::verdicts
