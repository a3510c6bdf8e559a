// SPDX-License-Identifier: Apache-2.0
//
// Expected sizes follow from should_split and round_size of PyTorch's CUDACachingAllocator.
#include "analyzer/model/snapshot/device_heap.h"
#include "analyzer/model/snapshot/ranges.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::snapshot;

namespace {

constexpr std::uint64_t a = 0x7f0000000000;
constexpr std::uint64_t KiB = 1024;
constexpr std::uint64_t MiB = 1024 * KiB;

}  // namespace

TEST_CASE("ranges join, are cut, and tell what is not in them") {
  ranges set;
  set.add(10, 20);
  set.add(30, 40);
  set.add(20, 30);
  CHECK(set.end_of(10) == 40);
  CHECK(set.end_of(40) == 40);
  CHECK(set.end_of(5) == 5);
  set.remove(15, 35);
  CHECK(set.end_of(10) == 15);
  CHECK(set.end_of(35) == 40);
  std::uint64_t gaps = 0;
  set.each_gap(0, 50, [&](auto begin, auto end) { gaps += end - begin; });
  CHECK(gaps == 50 - 5 - 5);
}

TEST_CASE("a small request takes what it rounds to, the last one what is left below 512 bytes") {
  device_heap heap{allocator::settings{}};
  heap.add_segment(a, 2 * MiB, false);
  CHECK(heap.allocate(a, 100) == 512);
  CHECK(heap.allocate(a + 512, 700) == 1024);
  CHECK(heap.allocated() == 1536);
  CHECK(heap.reserved() == 2 * MiB);
}

TEST_CASE("a large request takes the rest of its run, unless more than 1 MiB is left") {
  device_heap heap{allocator::settings{}};
  heap.add_segment(a, 20 * MiB, false);
  CHECK(heap.allocate(a, 5 * MiB) == 5 * MiB);
  CHECK(heap.allocate(a + 5 * MiB, 14 * MiB) == 15 * MiB);
  CHECK(heap.request_free(a + 5 * MiB) == 15 * MiB);
  CHECK(heap.request_free(a + 5 * MiB) == 0);
  // Until its stream is done with it, the block ends the run before it.
  heap.complete_free(a);
  CHECK(heap.allocate(a, 4 * MiB + 1) == 5 * MiB);
  heap.complete_free(a + 5 * MiB);
  heap.complete_free(a);
  CHECK(heap.allocate(a, 18 * MiB) == 18 * MiB);
}

TEST_CASE("beyond max_split_size nothing is split, under expandable segments everything") {
  allocator::settings options;
  options.max_split_size = 8 * MiB;
  device_heap whole{options};
  whole.add_segment(a, 40 * MiB, false);
  CHECK(whole.allocate(a, 30 * MiB) == 40 * MiB);

  device_heap expandable{allocator::settings{}};
  expandable.add_segment(a, 40 * MiB, true);
  CHECK(expandable.allocate(a, 39 * MiB + 1) == 39 * MiB + 512);
  expandable.remove_segment(a + 40 * MiB, 0, true);
  expandable.complete_free(a);
  expandable.remove_segment(a + 20 * MiB, 20 * MiB, true);
  CHECK(expandable.reserved() == 20 * MiB);
  CHECK(expandable.allocate(a, 20 * MiB - 100) == 20 * MiB);
}
