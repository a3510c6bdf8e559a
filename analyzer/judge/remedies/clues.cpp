// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/remedies/clues.h"

#include <algorithm>
#include <cctype>

#include "analyzer/judge/verdicts/keeper_words.h"

namespace memtrace::remedies {

namespace {

[[nodiscard]] char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

[[nodiscard]] bool contains(std::string_view text, std::string_view word) {
  const auto same = [](char left, char right) { return lower(left) == lower(right); };
  // Not std::ranges::search: clang cannot compile libstdc++'s subrange.
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

}  // namespace

bool clues::kept_with_graph() const {
  return kept_by(format::held_graph) || kept_by(format::held_has_graph);
}

bool clues::lost_in_graph() const {
  return kept_by(format::held_unreachable) &&
         std::ranges::any_of(about.culprits, [](const verdicts::culprit& one) {
           return one.what == attribution::category::activations && !one.retained_by.empty() &&
                  (one.retained_by.front().flags & format::held_unreachable) != 0;
         });
}

bool clues::kept_in(std::initializer_list<std::string_view> classes) const {
  if (keeper == nullptr || keeper->container.empty()) return false;
  const auto name = verdicts::container_class(*keeper);
  return classes.size() == 0 || std::ranges::find(classes, name) != classes.end();
}

bool clues::keeper_mentions(std::string_view word) const {
  if (keeper == nullptr) return false;
  return contains(keeper->path, word) || contains(keeper->holder, word);
}

bool clues::passes_through(std::string_view file_part) const {
  const auto there = [&](const code::source_frame& frame) {
    return frame.file.find(file_part) != frame.file.npos;
  };
  return std::ranges::any_of(frames, there) || std::ranges::any_of(forward, there);
}

bool clues::in_evaluation() const {
  return who.born_in == attribution::phase::evaluation ||
         (about.about.kind == verdicts::subject_kind::phase && about.about.name == "evaluation");
}

std::string clues::variable() const {
  if (keeper == nullptr) return "what keeps it";
  return "`" + verdicts::variable_of(*keeper) + "`";
}

}  // namespace memtrace::remedies
