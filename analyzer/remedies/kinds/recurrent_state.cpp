// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

namespace memtrace::remedies {

namespace {

// By what is kept, or by the layers that made it.
[[nodiscard]] bool is_recurrent(const clues& of) {
  if (of.passes_through("torch/nn/modules/rnn.py")) return true;
  return of.keeper_mentions("hidden") || of.keeper_mentions("state") || of.keeper_mentions("memor");
}

}  // namespace

std::optional<verdicts::remedy> recurrent_state(const clues& of) {
  if (!of.kept_with_graph() || of.kept_in({"list", "dict", "deque", "set"})) return std::nullopt;
  if (!is_recurrent(of)) return std::nullopt;
  verdicts::remedy what;
  what.id = "recurrent_state";
  what.cause = fmt::format(
      "{} goes from one step into the next with its graph, so the graph of every earlier step "
      "stays behind it.",
      of.variable());
  what.change =
      "Detach it where a new chunk begins: `h = h.detach()`, of an LSTM `h, c = h.detach(), "
      "c.detach()`.";
  what.caution =
      "`backward(retain_graph=True)` silences the error about a second backward; the memory stays, "
      "and each step takes longer.";
  return what;
}

}  // namespace memtrace::remedies
