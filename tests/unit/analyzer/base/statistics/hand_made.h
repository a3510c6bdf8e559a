// SPDX-License-Identifier: Apache-2.0
//
// Series written down by hand, so that everybody can see what they are.
#pragma once

#include <cstdint>
#include <vector>

namespace hand_made {

inline constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

using series = std::vector<std::uint64_t>;

template <class Function>
series of(std::uint64_t steps, Function&& bytes_at) {
  series all;
  for (std::uint64_t k = 0; k < steps; ++k) {
    all.push_back(static_cast<std::uint64_t>(bytes_at(k)));
  }
  return all;
}

// Some batch's bytes, different from step to step without a pattern in time: 0 to 10 shares of
// 256 MiB, in a third of the steps none.
inline std::uint64_t batch_at(std::uint64_t k) {
  const auto mixed = (k * 2654435761U + 12345U) ^ ((k * 40503U) >> 3U);
  return mixed % 3 == 0 ? 0 : (mixed / 3 % 11) * 256 * mib;
}

}  // namespace hand_made
