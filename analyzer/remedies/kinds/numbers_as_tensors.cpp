// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

namespace memtrace::remedies {

namespace {

constexpr std::uint64_t least_block = 512;  // what the allocator gives for a 4-byte tensor

}  // namespace

std::optional<verdicts::remedy> numbers_as_tensors(const clues& of) {
  const bool small = of.who.blocks != 0 && of.who.bytes / of.who.blocks <= least_block;
  if (!small || !of.kept_in() || of.kept_by(format::held_bounded)) return std::nullopt;
  verdicts::remedy what;
  what.id = "numbers_as_tensors";
  what.cause = fmt::format(
      "{} keeps numbers as tensors on the GPU: each takes a block of 512 bytes, which also pins "
      "its "
      "segment.",
      of.variable());
  what.change =
      "Keep `x.item()`, or fill one tensor that was made before the loop (`history[step] = x`).";
  what.caution = "`item()` waits for the GPU: call it every so many steps, not in each.";
  return what;
}

}  // namespace memtrace::remedies
