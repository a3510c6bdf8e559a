// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

namespace memtrace::remedies {

namespace {

// One block, made anew in each step and a little larger than the one before.
[[nodiscard]] bool is_one_block(const clues& of) {
  return of.who.blocks == 1 && of.who.birth_steps <= 1 && growth::is_leak(of.who.found.shape);
}

}  // namespace

std::optional<verdicts::remedy> growing_tensor(const clues& of) {
  if (!is_one_block(of)) return std::nullopt;
  verdicts::remedy what;
  what.id = "growing_tensor";
  what.cause = fmt::format(
      "One tensor{} is made again in each step, larger each time (as `torch.cat` does): old and "
      "new are there at once while it is copied.",
      of.keeper == nullptr ? "" : ", " + of.variable() + ",");
  what.change =
      "Allocate it once at its final size and write into it, or keep the parts on the CPU and join "
      "them there.";
  what.caution = "Its copies cost time that grows with the square of the steps.";
  return what;
}

}  // namespace memtrace::remedies
