// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

namespace memtrace::remedies {

namespace {

[[nodiscard]] bool is_metric(const clues& of) {
  return of.passes_through("/torchmetrics/") || of.passes_through("/torcheval/") ||
         of.keeper_mentions("metric");
}

}  // namespace

std::optional<verdicts::remedy> metric_state(const clues& of) {
  if (!is_metric(of) || of.kept_with_graph()) return std::nullopt;
  verdicts::remedy what;
  what.id = "metric_state";
  what.cause = fmt::format("A metric keeps every batch that it was given{}.",
                           of.keeper == nullptr ? "" : " in " + of.variable());
  what.change =
      "Call its `reset()` at the end of each epoch or evaluation; where the state is a list, use "
      "a metric whose state has a fixed size (binned thresholds), or keep it on the CPU "
      "(torchmetrics: `compute_on_cpu=True`).";
  what.caution = "`compute()` alone resets nothing.";
  return what;
}

}  // namespace memtrace::remedies
