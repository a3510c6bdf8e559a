// SPDX-License-Identifier: Apache-2.0
//
// The free list against a std::set with the same order.
#include "analyzer/model/allocator/free_list.h"

#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <vector>

#include "tests/unit/catch.h"

using namespace memtrace::allocator;

namespace {

bool equal(const free_entry& a, const free_entry& b) {
  return a.size == b.size && a.address == b.address && a.index == b.index;
}

void check_order(const free_list& list, const std::set<free_entry>& expected) {
  auto known = expected.begin();
  auto at = list.first();
  for (; at; at = list.next(at), ++known) {
    REQUIRE(known != expected.end());
    REQUIRE(equal(list[at], *known));
  }
  CHECK(known == expected.end());
  auto backwards = expected.rbegin();
  for (at = list.last(); at; at = list.previous(at), ++backwards) {
    REQUIRE(backwards != expected.rend());
    REQUIRE(equal(list[at], *backwards));
  }
  CHECK(backwards == expected.rend());
}

void check_search(const free_list& list, const std::set<free_entry>& expected, std::uint64_t size) {
  const auto known = expected.lower_bound(free_entry{size, 0, 0});
  const auto found = list.lower_bound(size);
  REQUIRE(static_cast<bool>(found) == (known != expected.end()));
  if (found) CHECK(equal(list[found], *known));
}

}  // namespace

TEST_CASE("a free list is ordered by size, then address, whatever comes and goes") {
  std::mt19937_64 random(7);
  // Blocks of few sizes, so that many share a bin and its arrays are split; and of all.
  for (const std::uint64_t sizes : {3u, 40u, 1'000'000u}) {
    free_list list;
    std::set<free_entry> expected;
    std::vector<free_entry> live;
    for (block_index i = 1; i < 6000; ++i) {
      const bool grows = i % 4000 < 2000;
      if (live.empty() || random() % 8 < (grows ? 6u : 2u)) {
        const free_entry entry{512 * (1 + random() % sizes), 512 * (random() % 100'000), i};
        list.insert(entry);
        expected.insert(entry);
        live.push_back(entry);
      } else {
        std::swap(live[random() % live.size()], live.back());
        list.erase(live.back());
        expected.erase(live.back());
        live.pop_back();
      }
      check_search(list, expected, 512 * (random() % (sizes + 2)));
      if (i % 500 == 0) check_order(list, expected);
    }
  }
}

TEST_CASE("sizes up to the largest have a place") {
  free_list list;
  list.insert({~std::uint64_t{0}, 1, 1});
  list.insert({1, 2, 2});
  CHECK(list[list.lower_bound(2)].index == 1);
  CHECK(list[list.first()].index == 2);
  list.erase({1, 2, 3});  // another block
  CHECK(list[list.first()].index == 2);
  list.erase({1, 2, 2});
  CHECK(list[list.first()].index == 1);
}
