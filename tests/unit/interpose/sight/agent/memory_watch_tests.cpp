// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/memory_watch.h"

#include "tests/unit/catch.h"

namespace {

using memtrace::agent::memory_watch;

struct allocator {
  memory_watch watch;
  std::uint64_t allocated = 0;
  std::uint32_t device = 0;

  // As see_usage lets it through: a free that leaves nothing is not told.
  void change(std::uint64_t address, std::int64_t bytes) {
    allocated += static_cast<std::uint64_t>(bytes);
    if (allocated == 0) return;
    watch.see({.device = device, .address = address, .block_bytes = bytes, .allocated = allocated});
  }
  [[nodiscard]] memory_watch::watched now() const { return watch.of(device, allocated); }
};

TEST_CASE("a watch knows what is there, and the most that was") {
  allocator program;
  program.change(0x1000, 512);
  program.change(0x2000, 1024);
  program.change(0x1000, -512);
  program.change(0x3000, 256);
  CHECK(program.now().now == 1280);
  CHECK(program.now().peak == 1536);
}

TEST_CASE("blocks from before do not count, nor does their release") {
  allocator program;
  program.allocated = 4096;
  program.change(0x1000, 512);
  program.change(0x9000, -4096);
  CHECK(program.now().now == 512);
  program.change(0x9000, 1024);
  CHECK(program.now().now == 1536);
  CHECK(program.now().peak == 1536);
}

TEST_CASE("a free that leaves nothing is not told, and known all the same") {
  allocator program;
  program.change(0x1000, 512);
  program.change(0x1000, -512);
  CHECK(program.now().now == 0);
  program.change(0x2000, 256);
  CHECK(program.now().now == 256);
  CHECK(program.now().peak == 512);
}

TEST_CASE("each device has its own sum") {
  allocator program;
  program.change(0x1000, 512);
  program.watch.see({.device = 3, .address = 0x1000, .block_bytes = 2048, .allocated = 2048});
  CHECK(program.watch.devices() == 4);
  CHECK(program.watch.of(0, 512).peak == 512);
  CHECK(program.watch.of(1, 0).peak == 0);
  CHECK(program.watch.of(3, 2048).now == 2048);
  CHECK(program.watch.is_whole());
}

}  // namespace
