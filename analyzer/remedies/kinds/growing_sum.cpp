// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

#include "analyzer/verdicts/keeper_words.h"

namespace memtrace::remedies {

namespace {

[[nodiscard]] bool is_sum(const clues& of) {
  for (const auto* const word : {"loss", "total", "sum", "running", "avg", "mean", "acc"}) {
    if (of.keeper_mentions(word)) return true;
  }
  return false;
}

}  // namespace

std::optional<verdicts::remedy> growing_sum(const clues& of) {
  if (!of.kept_with_graph() || of.kept_in()) return std::nullopt;
  verdicts::remedy what;
  what.id = "growing_sum";
  what.cause = fmt::format(
      "{} is one tensor whose graph grows: it is computed from what it was in the step before, and "
      "so keeps the graph of every step.",
      of.variable());
  what.change = is_sum(of) ? "Add numbers, not tensors: `total += loss.item()`, or "
                             "`total += loss.detach()` to stay on the GPU; what is not trained on, "
                             "compute under `torch.no_grad()`."
                           : fmt::format(
                                 "Cut the graph between steps: `{0} = {0}.detach()`, or "
                                 "compute it under `torch.no_grad()`.",
                                 verdicts::variable_of(*of.keeper));
  what.caution = "`del loss` at the end of the step changes nothing: the graph still refers to it.";
  return what;
}

}  // namespace memtrace::remedies
