// SPDX-License-Identifier: Apache-2.0
#include "interpose/census/block_size.h"

#include <array>
#include <memory>

#include "tests/unit/catch.h"
#include "tests/unit/sanitized.h"

namespace memtrace::census {
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
    const std::size_t found = bytes_from(object);
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
  CHECK(bytes_from(large.get()) == 0);
  CHECK(bytes_from(mapped.get()) == 0);
}

}  // namespace memtrace::census
