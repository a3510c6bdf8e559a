// SPDX-License-Identifier: Apache-2.0
//
// The state of PyTorch's random numbers on the CPU, and how to move it on without the numbers. Laid
// out as PyTorch passes it (at::mt19937, the same in 2.3 to 2.15).
#pragma once

#include <array>
#include <cstdint>

namespace memtrace::simulator::untouched {

struct mersenne_twister {
  static constexpr int words = 624;

  std::uint64_t seed;
  std::int32_t left;  // numbers until the words are reallocated, and one
  bool seeded;
  std::uint32_t next;  // the word that the next number is made of
  std::array<std::uint32_t, words> state;

  // As if so many numbers of 32 bits had been drawn.
  void skip(std::uint64_t numbers) noexcept;

  // Checks what drawing relies on; false for any other layout.
  [[nodiscard]] bool is_valid() const noexcept {
    return seeded && left > 0 && left <= words && next <= words;
  }
};

}  // namespace memtrace::simulator::untouched
