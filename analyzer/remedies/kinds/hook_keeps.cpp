// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

namespace memtrace::remedies {

std::optional<verdicts::remedy> hook_keeps(const clues& of) {
  if (!of.kept_by(format::held_hook)) return std::nullopt;
  verdicts::remedy what;
  what.id = "hook_keeps";
  what.cause = fmt::format("A hook keeps what it saw: {}.", of.variable());
  what.change =
      "Register the hook once, keep its handle, and call `handle.remove()` when it has done its "
      "work; let it keep `output.detach().cpu()`, and empty that after each step.";
  what.caution = "Deleting the output in the training loop changes nothing: the hook has its own.";
  return what;
}

}  // namespace memtrace::remedies
