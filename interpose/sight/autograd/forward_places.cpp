// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/forward_places.h"

#include <array>

namespace memtrace::autograd::forward_places {
namespace {

// 32 bytes an entry, touched as they are used. A step of a large model makes some ten thousand
// nodes; loops over long sequences, with their graph alive, hundreds of thousands.
constexpr std::uint32_t first_capacity = 1u << 15;
constexpr std::uint32_t most_capacity = 1u << 20;

std::array<places_slot, 1024> slots;
std::atomic<std::uint32_t> rings_made{0};
std::atomic<std::uint32_t> next_taken{0};  // goes around, so that the latest to end keep theirs

places_slot& slot_of(std::uint64_t thread) noexcept {
  return slots[thread % slots.size()];
}

// Another thread may be reading in the smaller one: it is never given back, and all of them
// together are no larger than the largest.
void grow(places_slot& mine) noexcept {
  mine.is_too_small.store(false, std::memory_order_relaxed);
  const place_ring& smaller = *mine.ring.load(std::memory_order_relaxed);
  if (smaller.capacity() >= most_capacity) return;
  place_ring* const larger = place_ring::make(smaller.capacity() * 2);
  if (larger == nullptr) return;
  larger->take_over(smaller);
  mine.ring.store(larger, std::memory_order_release);
}

// Whoever still reads in it finds the keys of another thread there: nothing.
place_ring* ring_of_ended_thread() noexcept {
  for (std::size_t looked = 0; looked < slots.size(); ++looked) {
    const std::uint32_t at = next_taken.fetch_add(1, std::memory_order_relaxed);
    places_slot& slot = slots[at % slots.size()];
    if (slot.ring.load(std::memory_order_relaxed) == nullptr) continue;
    if (slot.is_owned.exchange(true, std::memory_order_acquire)) continue;
    place_ring* const ring = slot.ring.exchange(nullptr, std::memory_order_acq_rel);
    give_back(slot);
    if (ring != nullptr) return ring;
  }
  return nullptr;
}

place_ring* ring_for_thread() noexcept {
  if (rings_made.load(std::memory_order_relaxed) >= most_kept) {
    if (place_ring* const used = ring_of_ended_thread(); used != nullptr) return used;
  }
  place_ring* const made = place_ring::make(first_capacity);
  if (made != nullptr) rings_made.fetch_add(1, std::memory_order_relaxed);
  return made;
}

}  // namespace

places_slot* take(std::uint64_t thread) noexcept {
  places_slot& slot = slot_of(thread);
  if (slot.is_owned.exchange(true, std::memory_order_acquire)) return nullptr;
  if (slot.ring.load(std::memory_order_relaxed) == nullptr) {
    slot.ring.store(ring_for_thread(), std::memory_order_release);
  }
  if (slot.ring.load(std::memory_order_relaxed) != nullptr) return &slot;
  give_back(slot);
  return nullptr;
}

void give_back(places_slot& slot) noexcept {
  slot.is_owned.store(false, std::memory_order_release);
}

void remember(places_slot& mine, std::uint64_t thread, std::uint64_t number,
              const forward_place& place) noexcept {
  if (mine.is_too_small.load(std::memory_order_relaxed)) [[unlikely]]
    grow(mine);
  mine.ring.load(std::memory_order_relaxed)->put(thread, number, place);
}

bool find(std::uint64_t thread, std::uint64_t number, forward_place& place) noexcept {
  places_slot& slot = slot_of(thread);
  const place_ring* const ring = slot.ring.load(std::memory_order_acquire);
  if (ring == nullptr) return false;
  const auto outcome = ring->find(thread, number, place);
  if (outcome == place_ring::outcome::overwritten) {
    slot.is_too_small.store(true, std::memory_order_relaxed);
  }
  return outcome == place_ring::outcome::found;
}

}  // namespace memtrace::autograd::forward_places
