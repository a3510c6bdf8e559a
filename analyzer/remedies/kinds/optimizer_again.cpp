// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

namespace memtrace::remedies {

std::optional<verdicts::remedy> optimizer_again(const clues& of) {
  if (of.who.what != attribution::category::optimizer_states &&
      of.who.what != attribution::category::gradients) {
    return std::nullopt;
  }
  if (of.who.birth_steps < 2) return std::nullopt;
  verdicts::remedy what;
  what.id = "optimizer_again";
  what.cause =
      of.who.what == attribution::category::gradients
          ? "Gradients of more and more parameters stay: probably models or parameters are made "
            "again in the loop and something keeps the old ones."
          : "Optimizer states pile up: probably parameters are added again and again "
            "(`add_param_group`), or old optimizers are kept.";
  what.change =
      "Make model and optimizer once, before the loop; where they must be new, let go of the old "
      "ones first (`del`, and `clear()` what keeps them).";
  return what;
}

}  // namespace memtrace::remedies
