// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

namespace memtrace::remedies {

std::optional<verdicts::remedy> growing_model(const clues& of) {
  const bool parameters = of.who.what == attribution::category::weights ||
                          of.who.what == attribution::category::buffers;
  const bool by_a_model =
      of.keeper != nullptr && of.keeper->container.empty() && !of.kept_by(format::held_unreachable);
  if (!parameters || !by_a_model || of.passes_through("/copy.py")) return std::nullopt;
  verdicts::remedy what;
  what.id = "growing_model";
  what.cause = fmt::format("The model itself grows: {} gets more parameters.", of.variable());
  what.change =
      "Add layers once; before a layer is wrapped again (LoRA, parametrizations), take the earlier "
      "wrapper off or merge it. If the model is meant to grow, this is its price.";
  return what;
}

}  // namespace memtrace::remedies
