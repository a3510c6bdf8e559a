// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/published_memory.h"

#include <memory>

#include "tests/unit/catch.h"
#include "tests/unit/sanitized.h"

#ifdef MEMTRACE_UNDER_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

using memtrace::agent::published_memory;

namespace {

// A restart leaves what there was as it is: in a forked child nobody knows whether it is whole.
// The leak sanitizer is told that what is made in this scope is left behind on purpose.
struct left_behind {
#ifdef MEMTRACE_UNDER_ADDRESS_SANITIZER
  left_behind() {
    __lsan_disable();
  }
  ~left_behind() {
    __lsan_enable();
  }
#else
  left_behind() {}
#endif
};

}  // namespace

TEST_CASE("what was added may be there, and is removed once") {
  const auto memory = std::make_unique<published_memory>();
  for (std::uint64_t address = 512; address <= 512 * 1000; address += 512) memory->add(address);
  for (std::uint64_t address = 512; address <= 512 * 1000; address += 512) {
    REQUIRE(memory->may_contain(address));
  }
  CHECK(memory->removals() == 0);
  CHECK(memory->remove(512));
  CHECK_FALSE(memory->remove(512));
  CHECK(memory->removals() == 1);
}

TEST_CASE("few addresses that were not added look as if they were") {
  const auto memory = std::make_unique<published_memory>();
  for (std::uint64_t i = 0; i < 1000; ++i) memory->add(0x7f00'0000'0000 + i * 4096);
  unsigned mistaken = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    if (memory->may_contain(0x7f80'0000'0000 + i * 512)) ++mistaken;
  }
  CHECK(mistaken < 500);
  CHECK_FALSE(memory->remove(0x7f80'0000'0000));
}

TEST_CASE("a restart forgets all") {
  const auto memory = std::make_unique<published_memory>();
  {
    const left_behind on_purpose;
    memory->add(4096);
  }
  memory->restart();
  CHECK_FALSE(memory->may_contain(4096));
  CHECK_FALSE(memory->remove(4096));
}
