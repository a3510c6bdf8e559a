// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/request_list.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "analyzer/model/allocator/request_log.h"
#include "tests/unit/catch.h"

using namespace memtrace::allocator;

namespace {

request made(action what, std::uint64_t size, block_number block, std::uint16_t stream = 0,
             std::uint16_t pool = 0) {
  request one;
  one.set_what(what);
  one.size = size;
  one.block = block;
  one.stream = stream;
  one.pool = pool & 0xfffu;
  return one;
}

template <class List, class Value>
void check_equal(const List& list, const std::vector<Value>& expected) {
  REQUIRE(list.size() == expected.size());
  std::size_t i = 0;
  bool equal = true;
  for (const auto& one : list) equal = equal && one == expected[i++];
  CHECK(equal);
}

}  // namespace

TEST_CASE("requests come out as they went in, few sizes or as many as there are requests") {
  const std::uint64_t sizes = GENERATE(1, 7, 1'000'000);
  std::mt19937_64 random(5);
  request_list list;
  std::vector<request> expected;
  for (block_number i = 0; i < 5'000; ++i) {
    expected.push_back(made(static_cast<action>(random() % 12), random() % sizes, i,
                            static_cast<std::uint16_t>(random() % 3),
                            static_cast<std::uint16_t>(random() % 3)));
    list.push_back(expected.back());
  }
  check_equal(list, expected);
  CHECK(list.back() == expected.back());
  CHECK_THROWS_AS(list.at(5'000), std::out_of_range);
}

TEST_CASE("a request that is set leaves those that were like it alone") {
  request_list list;
  for (block_number i = 0; i < 3; ++i) list.push_back(made(action::free, 1, i));
  list.set(1, made(action::free, 0, 1));
  check_equal(list, std::vector{made(action::free, 1, 0), made(action::free, 0, 1),
                                made(action::free, 1, 2)});
  list.shorten(1);
  check_equal(list, std::vector{made(action::free, 1, 0)});
}

TEST_CASE("events come out as they went in: near, far, falling, and after some were cut off") {
  std::mt19937_64 random(6);
  event_list list;
  std::vector<std::uint64_t> expected;
  std::uint64_t event = 0;
  for (int i = 0; i < 5'000; ++i) {
    const auto kind = random() % 100;
    event += kind == 0 ? std::uint64_t{1} << 40 : kind == 1 ? 65'534 + random() % 4 : random() % 5;
    if (kind == 2) event -= std::min<std::uint64_t>(event, 10);
    expected.push_back(event);
    list.push_back(event);
  }
  check_equal(list, expected);
  for (const std::size_t count : {4'000u, 512u, 511u, 257u, 256u, 1u, 0u}) {
    list.shorten(count);
    expected.resize(count);
    check_equal(list, expected);
  }
  for (int i = 0; i < 600; ++i) {
    expected.push_back(event += random() % 70'000);
    list.push_back(event);
  }
  check_equal(list, expected);
}
