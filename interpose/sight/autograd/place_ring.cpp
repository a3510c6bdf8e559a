// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/place_ring.h"

#include <sys/mman.h>

#include <new>

namespace memtrace::autograd {

place_ring* place_ring::make(std::uint32_t capacity) noexcept {
  const std::size_t bytes = sizeof(place_ring) + capacity * sizeof(entry);
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // Zeroed memory is an array of empty entries.
  return memory == MAP_FAILED ? nullptr : new (memory) place_ring(capacity);
}

void place_ring::store(std::uint64_t key, const forward_place& place) noexcept {
  entry& at = entries()[(key - 1) & mask_];
  at.key.store(0, std::memory_order_relaxed);
  // Release: whoever sees one of these also sees that the key was taken away.
  at.module.store(place.module, std::memory_order_release);
  at.root.store(place.root, std::memory_order_release);
  at.stack_and_generation.store(std::uint64_t{place.generation} << 32 | place.stack,
                                std::memory_order_release);
  at.key.store(key, std::memory_order_release);
}

void place_ring::put(std::uint64_t thread, std::uint64_t number,
                     const forward_place& place) noexcept {
  store(key_of(thread, number), place);
}

place_ring::outcome place_ring::find(std::uint64_t thread, std::uint64_t number,
                                     forward_place& place) const noexcept {
  // Nodes that add to gradients have the largest number of all, and no place: nothing that a larger
  // ring could have kept.
  if (number >= (std::uint64_t{1} << number_bits) - 1) return outcome::unknown;
  const std::uint64_t wanted = key_of(thread, number);
  const entry& at = entries()[(wanted - 1) & mask_];
  const std::uint64_t key = at.key.load(std::memory_order_acquire);
  if (key != wanted) {
    const bool same_thread = key >> number_bits == wanted >> number_bits;
    return same_thread && key > wanted ? outcome::overwritten : outcome::unknown;
  }
  place.module = at.module.load(std::memory_order_acquire);
  place.root = at.root.load(std::memory_order_acquire);
  const std::uint64_t both = at.stack_and_generation.load(std::memory_order_acquire);
  place.stack = static_cast<stack_id>(both);
  place.generation = static_cast<std::uint32_t>(both >> 32);
  return at.key.load(std::memory_order_relaxed) == wanted ? outcome::found : outcome::overwritten;
}

void place_ring::take_over(const place_ring& smaller) noexcept {
  for (std::uint64_t i = 0; i <= smaller.mask_; ++i) {
    const entry& from = smaller.entries()[i];
    const std::uint64_t key = from.key.load(std::memory_order_relaxed);
    if (key == 0) continue;
    const std::uint64_t both = from.stack_and_generation.load(std::memory_order_relaxed);
    store(key, {.module = from.module.load(std::memory_order_relaxed),
                .root = from.root.load(std::memory_order_relaxed),
                .stack = static_cast<stack_id>(both),
                .generation = static_cast<std::uint32_t>(both >> 32)});
  }
}

}  // namespace memtrace::autograd
