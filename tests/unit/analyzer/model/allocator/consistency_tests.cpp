// SPDX-License-Identifier: Apache-2.0
//
// Random requests, sensible or not, under random options: whatever happens, the heap stays one.
#include <array>
#include <random>

#include "tests/unit/analyzer/model/allocator/made_requests.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::allocator;
using namespace memtrace::test;

namespace {

using generator = std::mt19937_64;

settings random_options(generator& random) {
  constexpr std::array<std::uint64_t, 6> sizes = {0, 1, 1_MiB, 20_MiB, 64_MiB, unlimited};
  settings options;
  if (random() % 2 == 0) options.max_split_size = sizes[random() % sizes.size()];
  if (random() % 2 == 0) options.large_segment_size = sizes[random() % (sizes.size() - 1)];
  if (random() % 2 == 0) options.max_non_split_rounding = sizes[random() % sizes.size()];
  if (random() % 2 == 0) options.garbage_collection_threshold = 0.3;
  if (random() % 2 == 0) options.memory_fraction = 0.5;
  if (random() % 2 == 0) options.roundup_power2_divisions.fill(random() % 5);
  options.expandable_segments = random() % 2 == 0;
  return options;
}

std::uint64_t random_size(generator& random) {
  switch (random() % 8) {
    case 0:
      return random();
    case 1:
      return random() % 8;
    case 2:
    case 3:
      return random() % 2_MiB;
    case 4:
    case 5:
      return random() % 30_MiB;
    default:
      return random() % 200_MiB;
  }
}

made_requests random_program(generator& random) {
  made_requests program;
  program.options = random_options(random);
  program.log.usable_bytes = random() % 2 == 0 ? 0 : 700_MiB;
  program.log.texts = {"expandable_segments:True", "expandable_segments:False",
                       "max_split_size_mb:30", "no such option"};
  const auto any_block = [&] { return static_cast<block_number>(random() % 400); };
  for (int i = 0; i < 600; ++i) {
    switch (random() % 12) {
      case 0:
      case 1:
      case 2:
      case 3:
        program.allocate(random_size(random), random() % 3, random() % 3);
        if (random() % 2 == 0) program.log.addresses.back() = 0;
        break;
      case 4:
      case 5:
      case 6:
        program.free(any_block());
        break;
      case 7:
        program.free_later(any_block());
        break;
      case 8:
        program.complete(any_block());
        break;
      case 9:
        program.on_pool(action::settings, 0, random() % 6);
        break;
      case 10:
        program.on_pool(action::memory_fraction, 0, random());
        break;
      default:
        program.on_pool(static_cast<action>(random() % 16), random() % 4, random() % 2);
    }
  }
  return program;
}

void check_heap(const layout& heap) {
  std::uint64_t mapped = 0;
  std::uint64_t allocated = 0;
  std::uint64_t active = 0;
  std::uint64_t end = 0;
  for (const auto& segment : heap.segments) {
    REQUIRE(segment.address >= end);
    end = segment.address + segment.bytes;
    mapped += segment.mapped;
    auto at = segment.address;
    auto before = block_state::allocated;
    for (const auto& block : segment.blocks) {
      REQUIRE(block.address == at);
      REQUIRE(block.bytes > 0);
      at += block.bytes;
      const bool is_free =
          block.state == block_state::cached || block.state == block_state::unmapped;
      REQUIRE(!(is_free && block.state == before));
      before = block.state;
      if (block.state == block_state::allocated) allocated += block.bytes;
      if (!is_free) active += block.bytes;
    }
    REQUIRE(at == end);
  }
  REQUIRE(mapped == heap.reserved);
  REQUIRE(allocated == heap.allocated);
  REQUIRE(active == heap.active);
}

}  // namespace

TEST_CASE("segments are cut into blocks without gaps, and totals are their sums") {
  generator random(11);
  for (int run = 0; run < 300; ++run) {
    auto program = random_program(random);
    auto under = program.scenario();
    under.addresses = static_cast<address_policy>(run % address_policy_count);
    std::vector<std::uint32_t> moments;
    for (std::uint32_t i = 0; i < 600; i += 20) moments.push_back(i);
    show_layouts(program.log, under, moments,
                 [](std::uint32_t, const layout& heap) { check_heap(heap); });
    const auto found = replay(program.log, under);
    CHECK(found.active.bytes >= found.allocated.bytes);
    CHECK(found.reserved.bytes >= found.active.bytes);
  }
}
