// SPDX-License-Identifier: Apache-2.0
//
// One thread's memory of ids that the recorder gave: asking it takes its lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace memtrace::autograd {

template <unsigned bits>
class id_cache {
 public:
  // 0: not known, or of another recorder.
  [[nodiscard]] std::uint32_t find(std::uint64_t key, std::uint32_t generation) const noexcept {
    const entry& at = entries_[place_of(key)];
    return at.key == key && at.generation == generation ? at.id : 0;
  }

  // A signal handler in between finds nothing.
  void keep(std::uint64_t key, std::uint32_t generation, std::uint32_t id) noexcept {
    entry& at = entries_[place_of(key)];
    at.generation = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    at.key = key;
    at.id = id;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    at.generation = generation;
  }

 private:
  struct entry {
    std::uint64_t key = 0;
    std::uint32_t generation = 0;  // a recorder's is never 0
    std::uint32_t id = 0;
  };

  // Fibonacci hashing: the high bits of the product are spread best.
  [[nodiscard]] static std::size_t place_of(std::uint64_t key) noexcept {
    return (key * 0x9e3779b97f4a7c15u) >> (64 - bits);
  }

  std::array<entry, std::size_t{1} << bits> entries_{};
};

}  // namespace memtrace::autograd
