// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/audit/match.h"

#include <random>

#include "tests/unit/catch.h"

using namespace memtrace;
using audit::sighting;

namespace {

sighting allocation(std::uint64_t address, std::uint64_t bytes, std::int64_t time) {
  sighting one;
  one.address = address;
  one.bytes = bytes;
  one.time_ns = time;
  return one;
}

sighting release(std::uint64_t address, std::int64_t time) {
  auto one = allocation(address, 0, time);
  one.is_release = true;
  return one;
}

// An address used again and again, `ns` after the time of each.
std::vector<sighting> lives(std::uint64_t address, unsigned count, std::int64_t ns) {
  std::vector<sighting> all;
  for (unsigned i = 0; i < count; ++i) {
    all.push_back(allocation(address, 512 + i, 10'000 * i + ns));
    all.push_back(release(address, 10'000 * i + 5'000 + ns));
  }
  return all;
}

}  // namespace

TEST_CASE("What both saw is matched, whatever the order of the records", "[audit]") {
  auto ours = lives(0x1000, 20, 0), other = lives(0x9000, 7, 300);
  ours.insert(ours.end(), other.begin(), other.end());
  auto theirs = lives(0x1000, 20, 900);
  other = lives(0x9000, 7, 0);
  theirs.insert(theirs.end(), other.begin(), other.end());
  std::shuffle(theirs.begin(), theirs.end(), std::mt19937(7));
  const auto found = audit::match(ours, theirs);
  CHECK(found.allocations == 27);
  CHECK(found.releases == 27);
  CHECK(found.missed_by_cupti.empty());
  CHECK(found.missed_by_hooks.empty());
  CHECK(found.other_size.empty());
}

TEST_CASE("Each missing allocation of an address that is used again is the one that is named",
          "[audit]") {
  const auto all = lives(0x1000, 30, 0);
  for (std::size_t gap = 0; gap < all.size(); gap += 2) {
    auto fewer = lives(0x1000, 30, 700);
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(gap),
                fewer.begin() + static_cast<std::ptrdiff_t>(gap) + 2);
    const auto cupti = audit::match(all, fewer);
    CHECK(cupti.missed_by_cupti == std::vector<std::size_t>{gap, gap + 1});
    CHECK(cupti.missed_by_hooks.empty());
    CHECK(cupti.other_size.empty());
    const auto hooks = audit::match(fewer, all);
    CHECK(hooks.missed_by_hooks == std::vector<std::size_t>{gap, gap + 1});
    CHECK(hooks.missed_by_cupti.empty());
  }
}

TEST_CASE("A single missing release is named", "[audit]") {
  const auto ours = lives(0x1000, 5, 0);
  auto theirs = lives(0x1000, 5, 100);
  theirs.erase(theirs.begin() + 5);
  const auto found = audit::match(ours, theirs);
  CHECK(found.missed_by_cupti == std::vector<std::size_t>{5});
  CHECK(found.missed_by_hooks.empty());
  CHECK(found.allocations == 5);
}

TEST_CASE("What was not delivered before a kill is the last, however late the others seem",
          "[audit]") {
  // CUPTI says every call a good deal later than we do: the first release looks like the one that
  // is missing.
  const auto ours = lives(0x1000, 5, 0);
  auto theirs = lives(0x1000, 5, 9'000);
  theirs.pop_back();
  const auto last = ours.back().time_ns;
  const auto found = audit::match(ours, theirs, {.begin_ns = 0, .end_ns = last - 1});
  CHECK(found.missed_by_cupti == std::vector<std::size_t>{ours.size() - 1});
  CHECK(found.missed_by_hooks.empty());
  CHECK(found.releases == 4);
}

TEST_CASE("Another size is told", "[audit]") {
  const auto found = audit::match({allocation(0x1000, 100, 5)}, {allocation(0x1000, 512, 6)});
  REQUIRE(found.other_size.size() == 1);
  CHECK(found.missed_by_cupti.empty());
}

TEST_CASE("A release that failed is none", "[audit]") {
  auto failed = release(0x1000, 7);
  failed.taken_back = true;
  const auto found = audit::match({allocation(0x1000, 8, 5), failed, release(0x1000, 9)},
                                  {allocation(0x1000, 8, 5), release(0x1000, 9)});
  CHECK(found.releases == 1);
  CHECK(found.missed_by_cupti.empty());
}

TEST_CASE("Addresses that only one of them knows", "[audit]") {
  const auto found = audit::match({allocation(1, 8, 5), allocation(3, 8, 1)},
                                  {allocation(2, 8, 9), allocation(4, 8, 2)});
  CHECK(found.missed_by_cupti == std::vector<std::size_t>{1, 0});
  CHECK(found.missed_by_hooks == std::vector<std::size_t>{1, 0});
}

TEST_CASE("Threads that were overtaken: a call begins before another that is served first",
          "[audit]") {
  // The second allocation begins before the release that makes room for it; the third before the
  // second.
  const auto found = audit::match({allocation(1, 8, 10), release(1, 20), allocation(1, 16, 30),
                                   release(1, 40), allocation(1, 32, 50)},
                                  {allocation(1, 8, 9), allocation(1, 32, 17),
                                   allocation(1, 16, 18), release(1, 21), release(1, 41)});
  CHECK(found.allocations == 3);
  CHECK(found.releases == 2);
  CHECK(found.other_size.empty());
  CHECK(found.missed_by_cupti.empty());
  CHECK(found.missed_by_hooks.empty());
}
