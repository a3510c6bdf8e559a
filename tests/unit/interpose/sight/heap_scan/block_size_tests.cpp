// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/block_size.h"

#include <sys/mman.h>

#include <array>
#include <memory>

#include "tests/unit/catch.h"
#include "tests/unit/sanitized.h"

namespace memtrace::heap_scan {
namespace {

template <std::size_t size>
struct sized {
  std::array<unsigned char, size> bytes{};
};

// malloc rounds up by less than this.
[[maybe_unused]] constexpr std::size_t rounding = 32;

template <std::size_t size>
void check_both_ways() {
  const auto by_new = std::make_unique<sized<size>>();
  const auto shared = std::make_shared<sized<size>>();
  for (const void* object :
       {static_cast<const void*>(by_new.get()), static_cast<const void*>(shared.get())}) {
    const std::size_t found = bytes_from(autograd::readable_memory(), object);
    INFO("size " << size);
#if defined(MEMTRACE_UNDER_ADDRESS_SANITIZER) || defined(MEMTRACE_UNDER_THREAD_SANITIZER)
    CHECK(found == 0);  // another malloc
#else
    CHECK(found >= size);
    CHECK(found < size + rounding);
#endif
  }
}

}  // namespace

TEST_CASE("the bytes of an object made by new and by make_shared") {
  check_both_ways<24>();
  check_both_ways<40>();
  check_both_ways<488>();
  check_both_ways<872>();
  check_both_ways<4096>();
}

TEST_CASE("what is larger than any node has no size") {
  const auto large = std::make_unique<sized<64u << 10>>();
  const auto mapped = std::make_unique<sized<4u << 20>>();
  const autograd::readable_memory memory;
  CHECK(bytes_from(memory, large.get()) == 0);
  CHECK(bytes_from(memory, mapped.get()) == 0);
}

TEST_CASE("what cannot be read has no size") {
  const autograd::readable_memory memory;
  // Its first byte is readable, what stands before it is not.
  constexpr std::size_t page = 4096;
  auto* const pages = static_cast<char*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(pages != MAP_FAILED);
  REQUIRE(mprotect(pages, page, PROT_NONE) == 0);
  CHECK(bytes_from(memory, pages + page) == 0);
  CHECK(bytes_from(memory, reinterpret_cast<const void*>(0x10000)) == 0);
  REQUIRE(munmap(pages, 2 * page) == 0);
}

}  // namespace memtrace::heap_scan
