// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "analyzer/judge/blocks/block_collector.h"
#include "analyzer/model/allocator/request_edits.h"
#include "analyzer/model/allocator/what_if.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/made_layouts.h"

using namespace memtrace;
using namespace memtrace::allocator;
using memtrace::test::operator""_MiB;

namespace {

// a: allocate, f: free, E: empty_cache
[[nodiscard]] std::string letters(const allocator::request_log& log) {
  std::string text;
  for (const auto& one : log.requests) {
    text += one.what() == allocator::action::allocate ? 'a'
            : one.what() == allocator::action::free   ? 'f'
                                                      : 'E';
  }
  return text;
}

// Two blocks, one after the other; the events are 0, 10, 20, 30.
[[nodiscard]] allocator::request_log two_blocks() {
  test::requests program;
  const auto first = program.allocate(64_MiB, 4_MiB);
  program.free(first);
  const auto second = program.allocate(64_MiB, 5_MiB);
  program.free(second);
  return program.log;
}

}  // namespace

TEST_CASE("GIVEN requests WHEN empty_cache is put in and left out THEN they are as before") {
  auto log = two_blocks();
  add_empty_cache(log, {20, 30, 500});
  CHECK(letters(log) == "afEaEf");
  CHECK(log.events == allocator::event_list{0, 10, 20, 20, 30, 30});
  CHECK(log.allocations == std::vector<std::uint32_t>{0, 3});
  remove_empty_cache(log);
  CHECK(letters(log) == "afaf");
  CHECK(log.events == allocator::event_list{0, 10, 20, 30});
  CHECK(log.allocations == std::vector<std::uint32_t>{0, 2});
}

TEST_CASE(
    "GIVEN blocks of other sizes WHEN the cache is emptied between them THEN less is reserved") {
  test::requests program;
  const auto first = program.allocate(64_MiB, 30_MiB);
  program.free(first);
  program.allocate(128_MiB, 40_MiB);
  auto log = program.log;
  log.answers.reset();
  CHECK(allocator::replay(log, {}).reserved.bytes == 70_MiB);
  add_empty_cache(log, {20});
  CHECK(allocator::replay(log, {}).reserved.bytes == 40_MiB);
}

TEST_CASE("GIVEN names of types THEN their elements have so many bits") {
  CHECK(blocks::bits_of_scalar_type(6) == 32);    // Float
  CHECK(blocks::bits_of_scalar_type(15) == 16);   // BFloat16
  CHECK(blocks::bits_of_scalar_type(11) == 8);    // Bool
  CHECK(blocks::bits_of_scalar_type(24) == 8);    // Float8_e4m3fn
  CHECK(blocks::bits_of_scalar_type(1000) == 0);  // of a later version
  CHECK(blocks::bits_of_dtype("torch.float32") == 32);
  CHECK(blocks::bits_of_dtype("torch.float8_e5m2") == 8);
  CHECK(blocks::bits_of_dtype("torch.quint4x2") == 0);
}
