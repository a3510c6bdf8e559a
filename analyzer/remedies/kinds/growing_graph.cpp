// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

namespace memtrace::remedies {

std::optional<verdicts::remedy> growing_graph(const clues& of) {
  const bool saved = of.who.what == attribution::category::activations;
  if (!of.lost_in_graph() && !(saved && of.keeper == nullptr)) return std::nullopt;
  verdicts::remedy what;
  what.id = "growing_graph";
  what.cause =
      "Tensors that autograd saved for a backward pass stay: probably a result of each step is "
      "kept "
      "with its graph, or one step's graph goes on from the one before.";
  what.change =
      "Keep numbers (`loss.item()`) or `x.detach()`; cut what goes from step to step with "
      "`detach()`; leave `retain_graph=True` out; what is not trained on, compute under "
      "`torch.no_grad()`.";
  what.caution = "empty_cache() frees none of it.";
  return what;
}

}  // namespace memtrace::remedies
