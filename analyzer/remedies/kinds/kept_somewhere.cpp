// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

#include "analyzer/verdicts/keeper_words.h"

namespace memtrace::remedies {

std::optional<verdicts::remedy> kept_somewhere(const clues& of) {
  verdicts::remedy what;
  if (of.keeper == nullptr || of.kept_by(format::held_bounded)) return std::nullopt;
  what.id = "kept_somewhere";
  what.cause = fmt::format("{} keeps it.", verdicts::describe(*of.keeper));
  what.change = fmt::format(
      "Let go of it when a step is done (`del`, `None`, or `.clear()` of what holds it), or move "
      "what is kept to the CPU.");
  return what;
}

}  // namespace memtrace::remedies
