// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

namespace memtrace::remedies {

std::optional<verdicts::remedy> evaluation_results(const clues& of) {
  // Embeddings and features are collected for a training that follows.
  if (of.keeper_mentions("embed") || of.keeper_mentions("feature")) return std::nullopt;
  const bool within = of.about.about.kind == verdicts::subject_kind::phase;
  const bool collected = of.kept_in() || (within && of.keeper == nullptr);
  if (!of.in_evaluation() || !collected || of.kept_by(format::held_bounded)) return std::nullopt;
  const bool trainer = of.passes_through("/transformers/trainer");
  verdicts::remedy what;
  what.id = "evaluation_results";
  what.helps_what_fills = true;
  what.cause =
      fmt::format("{} the results of every evaluation batch on the GPU.",
                  of.keeper == nullptr ? std::string("A list, or a comprehension, collects")
                                       : of.variable() + " keeps");
  what.change =
      trainer
          ? "Pass `eval_accumulation_steps=…` (results go to the CPU every so many batches), "
            "or reduce logits early with `preprocess_logits_for_metrics`."
          : "Move each result to the CPU as it comes (`.cpu()`), or reduce it to what is needed "
            "(argmax, sums) before it is kept; clear the list after the evaluation.";
  what.caution = "`torch.no_grad()` does not help: it is the results themselves that stay.";
  return what;
}

}  // namespace memtrace::remedies
