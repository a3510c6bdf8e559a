// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/caution.h"

#include <fmt/core.h>

#include <charconv>

namespace memtrace::fit {

namespace {

[[nodiscard]] std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// What a program may do because of values; nothing where it read none.
[[nodiscard]] std::string if_it_stops(std::uint64_t reads) {
  if (reads == 0) return {};
  return fmt::format(
      "; it read {} that a GPU would have computed, and that are zeros here: if it stops for its "
      "loss (early stopping, a threshold, a plateau), let it go on",
      counted(reads, "value"));
}

}  // namespace

std::uint64_t reads_of_zeros(std::string_view output) {
  constexpr std::string_view before = "simulated GPU: ";
  constexpr std::string_view after = " of data that no kernel computed";
  const auto end = output.rfind(after);
  if (end == output.npos) return 0;
  const auto begin = output.rfind(before, end);
  if (begin == output.npos) return 0;
  std::uint64_t reads = 0;
  std::from_chars(output.data() + begin + before.size(), output.data() + end, reads);
  return reads;
}

std::string zeros_as_a_reason(std::uint64_t reads) {
  if (reads == 0) return {};
  return fmt::format(
      "; it had read {} that a GPU would have computed, and that are zeros here: if it checks its "
      "loss (NaN, zero, no progress), leave that check out for fit",
      counted(reads, "value"));
}

std::string caution_of(const probe& fitted) {
  if (fitted.came != verdict::fits) return {};
  if (!fitted.stopped_early && fitted.steps < fitted.steps_asked) {
    return fmt::format("the program ended after {} of the {} that --steps asks for",
                       counted(fitted.steps, "step"), fitted.steps_asked) +
           if_it_stops(fitted.reads_of_zeros);
  }
  if (fitted.rose_in_last_step) {
    const auto made = fitted.steps == 1
                          ? std::string("made one step, and a second one may need more")
                          : fmt::format(
                                "made {} steps, and its peak still rose in the last: "
                                "further ones may need more",
                                fitted.steps);
    return fitted.stopped_early ? fmt::format("the program {}; give more --steps", made)
                                : "the program " + made + if_it_stops(fitted.reads_of_zeros);
  }
  if (fitted.steps == 0 && fitted.went_backward && fitted.reads_of_zeros != 0) {
    return "the program computed gradients and never made a step of an optimizer" +
           if_it_stops(fitted.reads_of_zeros);
  }
  return {};
}

}  // namespace memtrace::fit
