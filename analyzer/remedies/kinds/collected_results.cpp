// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

#include "analyzer/verdicts/keeper_words.h"

namespace memtrace::remedies {

namespace {

[[nodiscard]] bool is_input(const clues& of) {
  return of.who.what == attribution::category::inputs;
}

}  // namespace

std::optional<verdicts::remedy> collected_results(const clues& of) {
  if (!of.kept_in() || of.kept_by(format::held_bounded)) return std::nullopt;
  verdicts::remedy what;
  what.id = is_input(of) ? "collected_batches" : "collected_results";
  what.cause = fmt::format(
      "{} gets one more {} on the GPU with each step, and nothing takes them "
      "out.",
      of.variable(), is_input(of) ? "batch" : "tensor");
  what.change =
      "Use each where it is made (train on it, or reduce it), batch by batch; what must be kept, "
      "keep on the CPU (`.append(x.cpu())`) or bounded (`deque(maxlen=…)`)";
  const auto kept_in = verdicts::variable_of(*of.keeper);
  const bool is_written_so = kept_in.find("[…]") == std::string::npos;
  what.change +=
      is_written_so ? fmt::format("; `{}.clear()` when it has been used.", kept_in) : ".";
  what.caution = "empty_cache() in each batch frees none of it: everything in the list is in use.";
  return what;
}

}  // namespace memtrace::remedies
