// SPDX-License-Identifier: Apache-2.0
//
// Where the forward calls of one thread were that made nodes of the autograd graph, by the node's
// sequence number: the latest ones, until their numbers come around.
//
//   forward thread ──put(n)──► ring ◄──find(n)── any thread that runs the node in backward
//
// Only the thread that a ring belongs to puts; anyone finds, without a lock: an entry's key is
// taken away while its contents change.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/ground/recorder/stack_table.h"

namespace memtrace::autograd {

// Modules are addresses of Python objects; the stack is a number of the recorder `generation`.
struct forward_place {
  std::uint64_t module = 0;
  std::uint64_t root = 0;
  stack_id stack = 0;
  std::uint32_t generation = 0;
};

class place_ring {
 public:
  // Null without memory. `capacity` is a power of two; pages are touched as they are used.
  [[nodiscard]] static place_ring* make(std::uint32_t capacity) noexcept;

  enum class outcome : std::uint8_t { found, unknown, overwritten };

  void put(std::uint64_t thread, std::uint64_t number, const forward_place& place) noexcept;
  [[nodiscard]] outcome find(std::uint64_t thread, std::uint64_t number,
                             forward_place& place) const noexcept;
  // Puts everything that `smaller` has. Before others find in this one.
  void take_over(const place_ring& smaller) noexcept;

  [[nodiscard]] std::uint32_t capacity() const noexcept {
    return static_cast<std::uint32_t>(mask_ + 1);
  }

 private:
  struct entry {
    std::atomic<std::uint64_t> key;  // 0: empty, or being written
    std::atomic<std::uint64_t> module;
    std::atomic<std::uint64_t> root;
    std::atomic<std::uint64_t> stack_and_generation;
  };

  static constexpr unsigned number_bits = 40;

  explicit place_ring(std::uint32_t capacity) noexcept : mask_(capacity - 1) {}

  // Threads and their numbers count from 1 and 0.
  [[nodiscard]] static std::uint64_t key_of(std::uint64_t thread, std::uint64_t number) noexcept {
    return thread << number_bits | (number + 1);
  }
  [[nodiscard]] entry* entries() noexcept { return reinterpret_cast<entry*>(this + 1); }
  [[nodiscard]] const entry* entries() const noexcept {
    return reinterpret_cast<const entry*>(this + 1);
  }

  void store(std::uint64_t key, const forward_place& place) noexcept;

  const std::uint64_t mask_;
};

}  // namespace memtrace::autograd
