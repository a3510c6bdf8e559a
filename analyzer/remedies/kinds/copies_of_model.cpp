// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

namespace memtrace::remedies {

std::optional<verdicts::remedy> copies_of_model(const clues& of) {
  const bool model = of.who.what == attribution::category::weights ||
                     of.who.what == attribution::category::buffers;
  if (of.keeper == nullptr || of.kept_by(format::held_unreachable)) return std::nullopt;
  const bool copied = of.keeper_mentions("state_dict") || of.passes_through("/copy.py");
  if (!model && !copied) return std::nullopt;
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
