// SPDX-License-Identifier: Apache-2.0
//
// Parameters, or what belongs to them, that are made again.
#include <fmt/core.h>

#include "analyzer/judge/advice/remedies/remedies.h"

namespace memtrace::remedies {

std::optional<verdicts::remedy> optimizer_again(const clues& of) {
  if (of.who.what != attribution::category::optimizer_states &&
      of.who.what != attribution::category::gradients) {
    return std::nullopt;
  }
  // Gradients that something else than parameters keeps, a hook's list, grow though none are made.
  const bool of_parameters = of.held_by == nullptr || of.kept_by(format::held_gradient);
  if (of.who.what == attribution::category::gradients && !of_parameters) return std::nullopt;
  if (of.who.generations < 2) return std::nullopt;
  verdicts::remedy what;
  what.id = "optimizer_again";
  what.cause =
      of.who.what == attribution::category::gradients
          ? "Gradients of more and more parameters stay: probably models or parameters are made "
            "again in the loop and something keeps the old ones."
          : "Optimizer states pile up: probably parameters are added again and again "
            "(`add_param_group`), or old optimizers are kept.";
  what.change =
      "Let go of the old ones before new ones are made (`del`, and `clear()` what keeps them), or "
      "make "
      "model and optimizer once, before the loop.";
  return what;
}

std::optional<verdicts::remedy> growing_model(const clues& of) {
  const bool parameters = of.who.what == attribution::category::weights ||
                          of.who.what == attribution::category::buffers;
  const bool by_a_model = of.held_by != nullptr && of.held_by->container.empty() &&
                          !of.kept_by(format::held_unreachable);
  if (!parameters || !by_a_model || of.passes_through("/copy.py")) return std::nullopt;
  verdicts::remedy what;
  what.id = "growing_model";
  what.cause = fmt::format("The model itself grows: {} gets more parameters.", of.variable());
  what.change =
      of.who.modules_wrap_each_other
          ? "Add layers once; before a layer is wrapped again (LoRA, parametrizations), "
            "take the earlier wrapper off or merge it."
          : "Take out parts that are no longer used before others are added (`del` of the "
            "module in its container; of an adapter, `delete_adapter` of its library), "
            "or keep them on the CPU. If the model is meant to grow, this is its price.";
  return what;
}

std::optional<verdicts::remedy> copies_of_model(const clues& of) {
  const bool model = of.who.what == attribution::category::weights ||
                     of.who.what == attribution::category::buffers;
  if (of.held_by == nullptr || of.kept_by(format::held_unreachable)) return std::nullopt;
  if (!model && !of.passes_through("/copy.py")) return std::nullopt;
  verdicts::remedy what;
  what.id = "copies_of_model";
  what.cause = fmt::format(
      "Parameters pile up: {} keeps copies of a model, or models that are made "
      "again.",
      of.variable());
  what.change =
      "Keep the best state only, on the CPU or on disk (`{k: v.cpu().clone() for k, v in "
      "model.state_dict().items()}`), and let go of the old model before a new one is made.";
  what.caution = "`state_dict()` copies nothing, `deepcopy` copies on the GPU.";
  return what;
}

}  // namespace memtrace::remedies
