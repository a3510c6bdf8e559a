// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "analyzer/model/allocator/imagined_driver.h"
#include "tests/unit/analyzer/model/allocator/made_requests.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::allocator;
using test::operator""_MiB;

TEST_CASE("the lowest gap that fits is taken") {
  imagined_driver driver(0, address_policy::lowest, 0);
  const auto a = *driver.allocate(2_MiB);
  const auto b = *driver.allocate(4_MiB);
  const auto c = *driver.allocate(2_MiB);
  CHECK(b == a + 2_MiB);
  CHECK(c == b + 4_MiB);
  driver.free(b, 4_MiB);
  CHECK(*driver.allocate(6_MiB) == c + 2_MiB);
  CHECK(*driver.allocate(2_MiB) == b);
  CHECK(*driver.allocate(2_MiB) == b + 2_MiB);
}

TEST_CASE("gaps that touch become one") {
  address_gaps gaps(0, 100);
  for (int i = 0; i < 10; ++i) CHECK(*gaps.take_lowest(10) == 10u * static_cast<unsigned>(i));
  CHECK(!gaps.take_lowest(1));
  gaps.give_back(20, 10);
  gaps.give_back(40, 10);
  CHECK(!gaps.take_lowest(30));
  gaps.give_back(30, 10);
  CHECK(*gaps.take_lowest(30) == 20);
  CHECK(!gaps.take_at(20, 1));
  gaps.give_back(50, 5);
  CHECK(gaps.take_at(52, 2));
  CHECK(!gaps.take_at(53, 2));
}

TEST_CASE("descending addresses are each below the ones before") {
  imagined_driver driver(0, address_policy::descending, 0);
  const auto a = *driver.allocate(2_MiB);
  driver.free(a, 2_MiB);
  const auto b = *driver.allocate(20_MiB);
  CHECK(b < a);
}

TEST_CASE("random addresses never overlap and are the same for the same seed") {
  std::map<std::uint64_t, std::uint64_t> taken;
  imagined_driver one(0, address_policy::random, 5);
  imagined_driver other(0, address_policy::random, 5);
  for (int i = 0; i < 1000; ++i) {
    const auto address = *one.allocate(20_MiB);
    CHECK(address == *other.allocate(20_MiB));
    const auto after = taken.lower_bound(address);
    if (after != taken.end()) CHECK(address + 20_MiB <= after->first);
    if (after != taken.begin()) CHECK(std::prev(after)->first + 20_MiB <= address);
    taken[address] = 20_MiB;
  }
}

TEST_CASE("capacity is in granules, of segments and of what is mapped together") {
  imagined_driver driver(10_MiB, address_policy::lowest, 0);
  const auto a = driver.allocate(3_MiB);  // 4 MiB
  CHECK(a);
  CHECK(driver.map(0, 6_MiB, 2_MiB));
  CHECK(!driver.map(0, 2_MiB, 2_MiB));
  CHECK(!driver.allocate(2_MiB));
  driver.unmap(0, 2_MiB);
  CHECK(!driver.allocate(4_MiB));
  driver.free(*a, 3_MiB);
  CHECK(driver.allocate(6_MiB));
  CHECK(!driver.allocate(~std::uint64_t{0} - 4_MiB));
}
