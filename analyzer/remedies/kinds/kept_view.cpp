// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

namespace memtrace::remedies {

std::optional<verdicts::remedy> kept_view(const clues& of) {
  if (!of.kept_by(format::held_view)) return std::nullopt;
  verdicts::remedy what;
  what.id = "kept_view";
  what.cause = fmt::format(
      "{} keeps views that use less than half of their storage: each keeps the whole tensor that "
      "it was cut from.",
      of.variable());
  what.change = fmt::format(
      "Copy what is kept: `x[i].clone()`, or `x[i].cpu()` where the GPU does not need it any more. "
      "Copies are smaller, but {} still grows: use them batch by batch, or `clear()` it.",
      of.variable());
  what.caution = "`detach()`, `contiguous()` of a part that already is, and `del x` copy nothing.";
  return what;
}

}  // namespace memtrace::remedies
