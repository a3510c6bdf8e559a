// SPDX-License-Identifier: Apache-2.0
//
// What a variable holds when a request fails, though the program does not read it any more: the batch of
// the turn before while the next one is collected.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "analyzer/judge/advice/remedies/remedies.h"
#include "analyzer/judge/program/later_uses.h"
#include "analyzer/judge/verdicts/retainer_words.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::remedies {

namespace {

constexpr std::string_view of_function = "local of ";
constexpr std::string_view of_main = "global of __main__";

// The variable that a path begins with: `out` of out['scores'][3]; empty: it begins with none.
[[nodiscard]] std::string first_name(const verdicts::retainer& held_by) {
  return held_by.path.substr(0, held_by.path.find_first_of(".["));
}

}  // namespace

std::optional<verdicts::remedy> unread_at_failure(const verdicts::retainer& held_by,
                                                  const std::vector<code::source_frame>& frames,
                                                  bool has_gone_on,
                                                  const trace::dictionary& names) {
  constexpr auto by_others = format::held_unreachable | format::held_traceback | format::held_hook;
  if ((held_by.flags & by_others) != 0) return std::nullopt;
  const bool is_global = held_by.owner == of_main;
  if (!is_global && !held_by.owner.starts_with(of_function)) return std::nullopt;
  const auto function =
      is_global ? std::string("<module>") : held_by.owner.substr(of_function.size());
  const auto is_owner = [&](const code::source_frame& one) {
    const auto dot = one.function.rfind('.');
    return one.file == held_by.file &&
           one.function.substr(dot == one.function.npos ? 0 : dot + 1) == function;
  };
  const auto frame = std::ranges::find_if(frames, is_owner);
  // A function that is running twice has two variables of the name.
  if (frame == frames.end() || std::ranges::count_if(frames, is_owner) != 1) return std::nullopt;
  const auto text = code::source_of(names, frame->file);
  if (!text) return std::nullopt;
  const program::source_file file{std::string(*text)};
  const auto scope = is_global ? program::node() : file.function_at(function, held_by.line);
  if (!is_global && !scope) return std::nullopt;
  constexpr auto by_graph = format::held_graph | format::held_has_graph;
  const program::stopped at{frame->line, has_gone_on, (held_by.flags & by_graph) != 0};
  const auto found = program::holders_of(file, scope, first_name(held_by), at);
  if (found.is != program::last_read::before) return std::nullopt;
  const bool has_other =
      !held_by.also.empty() && std::ranges::find(found.names, held_by.also) == found.names.end();
  if (has_other) return std::nullopt;
  verdicts::remedy what;
  what.id = "unread_variable";
  what.helps_what_fills = true;
  what.cause = fmt::format("`{}` is not read again.", verdicts::variable_of(held_by));
  what.change = fmt::format("`{} = None` before {}", fmt::join(found.names, " = "),
                            code::place_of(*frame, 1));
  return what;
}

}  // namespace memtrace::remedies
