// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/cupti/device_activity.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "tests/unit/catch.h"

using memtrace::cupti::busy_time;

TEST_CASE("Overlapping kernels count once", "[cupti]") {
  busy_time one;
  one.add(10, 20);
  one.add(30, 40);
  CHECK(one.total() == 20);
  one.add(15, 35);  // joins both
  CHECK(one.total() == 30);
  one.add(12, 38);
  CHECK(one.total() == 30);
  one.add(0, 5);  // another stream's, delivered later
  CHECK(one.total() == 35);
  one.add(5, 10);
  CHECK(one.total() == 40);
  one.add(40, 40);
  one.add(50, 45);
  CHECK(one.total() == 40);
}

TEST_CASE("Busy time equals that of all moments, counted one by one", "[cupti]") {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    busy_time one;
    std::set<std::uint64_t> busy;
    std::uint64_t now = 100;
    for (int i = 0; i < 400; ++i) {
      now += random() % 12;
      // Up to 60 late: as when streams are delivered one after the other.
      const std::uint64_t start = now - random() % 60;
      const std::uint64_t end = start + random() % 15;
      one.add(start, end);
      for (std::uint64_t moment = start; moment < end; ++moment) busy.insert(moment);
      REQUIRE(one.total() == busy.size());
    }
  }
}

TEST_CASE("Long runs with gaps keep to their room", "[cupti]") {
  busy_time one;
  for (std::uint64_t i = 0; i < 100'000; ++i) one.add(10 * i, 10 * i + 4);
  CHECK(one.total() == 400'000);
  one.add(0, 1'000'000);  // what was forgotten stays as it was counted
  CHECK(one.total() >= 400'000);
  CHECK(one.total() <= 400'000 + 6 * 512);
}
