// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/statistics/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace memtrace::growth {
namespace {

// Flat steps after which the last quarter of the series would count as the end of the growth.
std::uint64_t flat_steps(const test_figures& seen) {
  return std::max<std::uint64_t>(6, (seen.steps - seen.warmup_steps) / 3);
}

std::uint64_t longest_silence(const judgement& given) {
  std::uint64_t last = given.evidence.warmup_steps, longest = 1;
  for (const auto& one : given.changes) {
    if (one.bytes < 0) continue;
    longest = std::max(longest, one.step - std::min(last, one.step));
    last = one.step;
  }
  return 2 * longest;
}

}  // namespace

std::string overturned_by(const judgement& given) {
  const auto& seen = given.evidence;
  switch (given.shape) {
    case shape::unknown:
      return fmt::format("any verdict needs {} more steps", given.more_steps_needed);
    case shape::accumulating:
      return fmt::format("{} more steps without growth (a cache or buffer that was filling)",
                         flat_steps(seen));
    case shape::stepwise:
      return fmt::format("{} more steps without another jump",
                         given.changes.empty() ? flat_steps(seen) : longest_silence(given));
    case shape::sawtooth_leak:
      return fmt::format("{} more falls down to the lowest floor so far",
                         std::max<std::size_t>(2, seen.teeth / 3));
    case shape::sawtooth:
      return "three more falls that each end higher than the one before";
    case shape::bounded_records:
      return "two more jumps, each after a wait no longer than the one before it";
    case shape::warmup_plateau:
      return "growth that begins again and lasts for a quarter of the steps";
    case shape::steady:
      return fmt::format("growth of more than {:.0f} bytes over as many steps again",
                         std::max(1024.0, std::ceil(3 * seen.noise_bytes)));
  }
  return {};
}

}  // namespace memtrace::growth
