// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedies/kinds.h"

#include <fmt/core.h>

namespace memtrace::remedies {

namespace {

// OutOfMemoryError of "traceback of OutOfMemoryError"
[[nodiscard]] std::string exception_of(const verdicts::retainer& keeper) {
  constexpr std::string_view start = "traceback of ";
  return keeper.owner.starts_with(start) ? "an " + keeper.owner.substr(start.size())
                                         : std::string("an exception");
}

}  // namespace

std::optional<verdicts::remedy> exception_frames(const clues& of) {
  if (!of.kept_by(format::held_traceback)) return std::nullopt;
  verdicts::remedy what;
  what.id = "exception_frames";
  what.cause = fmt::format(
      "The traceback of {} keeps the frames of the call that failed, and their local tensors.",
      exception_of(*of.keeper));
  what.change =
      of.kept_in()
          ? fmt::format(
                "Keep `str(error)`, or `error.with_traceback(None)`, instead of the exception in "
                "{}.",
                of.variable())
          : "Leave the `except` block before trying again: set a flag in it, recover after it; and "
            "keep `str(error)` instead of the exception.";
  what.caution = "torch.cuda.empty_cache() inside of the `except` block frees none of it.";
  return what;
}

}  // namespace memtrace::remedies
