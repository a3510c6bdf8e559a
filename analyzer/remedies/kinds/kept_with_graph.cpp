// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

namespace memtrace::remedies {

namespace {

// Scalars: what a person wants of them is the number.
[[nodiscard]] bool is_loss(const clues& of) {
  return of.keeper_mentions("loss");
}

}  // namespace

std::optional<verdicts::remedy> kept_with_graph(const clues& of) {
  if (!of.kept_with_graph()) return std::nullopt;
  verdicts::remedy what;
  what.id = is_loss(of) ? "kept_loss" : "kept_with_graph";
  what.cause = fmt::format(
      "{} keeps results together with the graphs that made them, and with everything that these "
      "saved for a backward pass.",
      of.variable());
  what.change = is_loss(of)
                    ? "Keep the number: `loss.item()` (or `float(loss)`); `loss.detach()` "
                      "where it must stay on the GPU."
                    : "Keep `x.detach()`, and `.cpu()` after it where the GPU does not need "
                      "it any more; compute what is never trained on under "
                      "`torch.no_grad()`.";
  what.caution = "`del` of the local name changes nothing as long as the container refers to it.";
  return what;
}

}  // namespace memtrace::remedies
