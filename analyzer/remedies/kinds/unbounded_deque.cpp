// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "analyzer/remedies/kinds.h"
#include "analyzer/verdicts/keeper_words.h"

namespace memtrace::remedies {

std::optional<verdicts::remedy> unbounded_deque(const clues& of) {
  if (!of.kept_in({"deque"}) || of.kept_by(format::held_bounded)) return std::nullopt;
  verdicts::remedy what;
  what.id = "unbounded_deque";
  what.cause = fmt::format("{} is a deque without a limit.", of.variable());
  what.change = fmt::format("Give it one, so that the oldest elements go: `{} = deque(maxlen=…)`.",
                            verdicts::variable_of(*of.keeper));
  return what;
}

}  // namespace memtrace::remedies
