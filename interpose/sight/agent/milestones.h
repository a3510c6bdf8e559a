// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace memtrace::agent {

// 2, 5, 9, 16, 28, 50, 90, …
inline constexpr std::uint64_t first_milestone = 2;
[[nodiscard]] constexpr std::uint64_t milestone_after(std::uint64_t milestone) noexcept {
  return std::max(milestone + 3, milestone * 9 / 5);
}
[[nodiscard]] constexpr bool is_milestone(std::uint64_t count) noexcept {
  std::uint64_t milestone = first_milestone;
  while (milestone < count) milestone = milestone_after(milestone);
  return milestone == count;
}

// What comes several times in each step takes the place of `usual`; what is much more is an
// episode of its own, an evaluation for example.
constexpr void learn_usual(std::uint64_t& usual, std::uint64_t count) noexcept {
  if (usual == 0 || count <= 4 * usual + 4) usual = count;
}

}  // namespace memtrace::agent
