// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/replacement.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace memtrace::verdicts {

namespace {

constexpr std::size_t fewest_rises = 3;
constexpr double nearly_all = 0.8;
constexpr double as_much = 0.9;
constexpr double hardly = 0.1;

using windows = std::vector<growth::window>;

[[nodiscard]] double change(const windows& all, std::size_t at) {
  return all[at].floor - all[at - 1].floor;
}

[[nodiscard]] bool falls_beside(const windows& falling, std::size_t at, double bytes) {
  const auto to = std::min(at + 1, falling.size() - 1);
  for (auto i = std::max<std::size_t>(at, 2) - 1; i <= to; ++i) {
    if (-change(falling, i) >= as_much * bytes) return true;
  }
  return false;
}

}  // namespace

bool replaces(const growth::series& growing, const growth::series& other) {
  const auto& rising = growing.windows();
  const auto& falling = other.windows();
  if (growing.width() != other.width() || rising.size() != falling.size()) return false;
  std::size_t rises = 0;
  std::size_t matched = 0;
  double risen = 0;
  double fallen = 0;  // of the other, since the first rise
  double refilled = 0;
  for (std::size_t i = 1; i < rising.size(); ++i) {
    const auto up = std::max(0.0, change(rising, i));
    if (up > 0) {
      ++rises;
      matched += falls_beside(falling, i, up);
      risen += up;
    }
    if (rises == 0) continue;
    fallen += std::max(0.0, -change(falling, i));
    refilled += std::max(0.0, change(falling, i));
  }
  // What varies from step to step falls beside anything: it refills.
  return rises >= fewest_rises && fallen >= nearly_all * risen && refilled <= hardly * fallen &&
         static_cast<double>(matched) >= nearly_all * static_cast<double>(rises);
}

}  // namespace memtrace::verdicts
