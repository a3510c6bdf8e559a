// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/forward_places.h"

#include <set>
#include <thread>
#include <vector>

#include "tests/unit/catch.h"

namespace memtrace::autograd {
namespace {

forward_place place(std::uint64_t number) {
  return {.module = 0x1000 + number,
          .root = 0x9000,
          .stack = static_cast<stack_id>(number + 1),
          .generation = 3};
}

bool holds(std::uint64_t thread, std::uint64_t number) {
  forward_place found;
  return forward_places::find(thread, number, found) && found.module == 0x1000 + number &&
         found.root == 0x9000 && found.stack == number + 1 && found.generation == 3;
}

}  // namespace

TEST_CASE("forward places are found by thread and number") {
  places_slot* const slot = forward_places::take(11);
  REQUIRE(slot != nullptr);
  for (std::uint64_t number = 0; number < 100; ++number) {
    forward_places::remember(*slot, 11, number, place(number));
  }
  CHECK(holds(11, 0));
  CHECK(holds(11, 99));
  CHECK_FALSE(holds(11, 100));
  CHECK_FALSE(holds(12, 5));
  CHECK(forward_places::take(11 + 1024) == nullptr);  // its slot is in use
  forward_places::give_back(*slot);
  CHECK(holds(11, 42));  // the graph outlives the thread

  places_slot* const next = forward_places::take(11 + 1024);
  REQUIRE(next == slot);
  forward_places::remember(*next, 11 + 1024, 5, place(5));
  CHECK(holds(11 + 1024, 5));
  CHECK_FALSE(holds(11, 5));
  CHECK_FALSE(holds(11 + 1024, 42));
  forward_places::give_back(*next);
}

TEST_CASE("a ring that proves too small grows and keeps what it still has") {
  places_slot* const slot = forward_places::take(21);
  REQUIRE(slot != nullptr);
  const std::uint64_t capacity = slot->ring.load()->capacity();
  const std::uint64_t count = 2 * capacity;
  for (std::uint64_t i = 0; i < count; ++i) forward_places::remember(*slot, 21, i, place(i));
  CHECK(holds(21, capacity));
  CHECK_FALSE(holds(21, capacity - 1));  // overwritten, and asked for
  for (std::uint64_t i = count; i < count + 10; ++i) {
    forward_places::remember(*slot, 21, i, place(i));
  }
  CHECK(slot->ring.load()->capacity() == 2 * capacity);
  CHECK(holds(21, capacity + 10));
  CHECK(holds(21, count - 1));
  CHECK(holds(21, count + 9));
  for (std::uint64_t i = count + 10; i < 2 * count; ++i) {
    forward_places::remember(*slot, 21, i, place(i));
  }
  CHECK(holds(21, count));
  forward_places::give_back(*slot);
}

TEST_CASE("threads one after another share rings; those that live have one each") {
  std::set<const place_ring*> rings;
  for (std::uint64_t thread = 100; thread < 1100; ++thread) {
    places_slot* const slot = forward_places::take(thread);
    REQUIRE(slot != nullptr);
    rings.insert(slot->ring.load());
    forward_places::remember(*slot, thread, 3, place(3));
    CHECK(holds(thread, 3));
    forward_places::give_back(*slot);
  }
  CHECK(rings.size() <= forward_places::most_kept);
  CHECK(holds(1099, 3));
  CHECK(holds(1099 - forward_places::most_kept / 2, 3));
  CHECK_FALSE(holds(100, 3));  // a later thread has its ring

  rings.clear();
  std::vector<places_slot*> alive;
  for (std::uint64_t thread = 2000; thread < 2200; ++thread) {
    alive.push_back(forward_places::take(thread));
    REQUIRE(alive.back() != nullptr);
    rings.insert(alive.back()->ring.load());
    forward_places::remember(*alive.back(), thread, thread, place(thread));
  }
  CHECK(rings.size() == alive.size());
  for (std::uint64_t thread = 2000; thread < 2200; ++thread) CHECK(holds(thread, thread));
  for (places_slot* const one : alive) forward_places::give_back(*one);
}

// Their number is the largest: in an endless training one is asked for at every step.
TEST_CASE("nodes that add to gradients let no ring grow") {
  places_slot* const slot = forward_places::take(41);
  REQUIRE(slot != nullptr);
  const std::uint32_t capacity = slot->ring.load()->capacity();
  for (std::uint64_t i = 0; i < 2 * std::uint64_t{capacity}; ++i) {
    forward_places::remember(*slot, 41, i, place(i));
  }
  CHECK_FALSE(holds(41, ~std::uint64_t{0}));
  forward_places::remember(*slot, 41, 2 * std::uint64_t{capacity}, place(0));
  CHECK(slot->ring.load()->capacity() == capacity);
  forward_places::give_back(*slot);
}

TEST_CASE("a place that is being overwritten is found whole or not at all") {
  places_slot* const slot = forward_places::take(31);
  REQUIRE(slot != nullptr);
  const std::uint64_t step = slot->ring.load()->capacity();
  constexpr std::uint64_t rounds = 20'000;
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      slot->is_too_small.store(false);
      forward_places::remember(*slot, 31, i * step, place(i * step));
    }
  });
  std::uint64_t torn = 0;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    forward_place found;
    if (!forward_places::find(31, i * step, found)) continue;
    torn += found.module != 0x1000 + i * step || found.stack != static_cast<stack_id>(i * step + 1);
  }
  writer.join();
  CHECK(torn == 0);
  forward_places::give_back(*slot);
}

}  // namespace memtrace::autograd
