// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

#include "analyzer/verdicts/keeper_words.h"

namespace memtrace::remedies {

namespace {

[[nodiscard]] bool by_epochs(const clues& of) {
  using growth::shape;
  const auto found = of.about.found.shape;
  return found == shape::stepwise || found == shape::sawtooth || found == shape::sawtooth_leak;
}

}  // namespace

std::optional<verdicts::remedy> epoch_outputs(const clues& of) {
  const bool lightning = of.passes_through("lightning/");
  if (!of.kept_in({"list", "tuple", "deque"}) || of.kept_by(format::held_bounded)) {
    return std::nullopt;
  }
  if (!lightning && !(by_epochs(of) && of.keeper_mentions("output"))) return std::nullopt;
  verdicts::remedy what;
  what.id = "epoch_outputs";
  what.helps_what_fills = true;
  what.cause = fmt::format("{} keeps what the steps of an epoch return.", of.variable());
  what.change =
      lightning ? "Return only the loss from `training_step`; what else is needed at the epoch's "
                  "end: `.detach().cpu()`, in a list that `on_train_epoch_end` clears."
                : fmt::format(
                      "Keep numbers or CPU copies, and clear it at the epoch's end: "
                      "`{}.clear()`.",
                      verdicts::variable_of(*of.keeper));
  return what;
}

}  // namespace memtrace::remedies
