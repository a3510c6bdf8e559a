// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

namespace memtrace::remedies {

namespace {

[[nodiscard]] bool is_queue(const clues& of) {
  // queue.Queue keeps its elements in a deque of its own.
  return of.kept_in({"SimpleQueue"}) ||
         (of.keeper != nullptr && of.keeper->holder.ends_with("Queue"));
}

}  // namespace

std::optional<verdicts::remedy> unbounded_queue(const clues& of) {
  if (!is_queue(of) || of.kept_by(format::held_bounded)) return std::nullopt;
  verdicts::remedy what;
  what.id = "unbounded_queue";
  what.cause = fmt::format("{} is filled faster than it is emptied.", of.variable());
  what.change =
      "Bound it (`Queue(maxsize=…)` makes the producer wait), and let it carry CPU tensors.";
  return what;
}

}  // namespace memtrace::remedies
