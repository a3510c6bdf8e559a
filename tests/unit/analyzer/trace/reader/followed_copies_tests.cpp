// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/unit/analyzer/trace/reader/followed.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {
constexpr std::uint64_t a = 0x7f0000000000;
}

TEST_CASE(
    "GIVEN an old copy of a full slot WHEN the next began THEN the rest waits for its block") {
  trace_builder trace;
  trace.alloc(a, 512);
  changing_source file;
  file.bytes = trace.bytes();
  const auto old_slot = file.bytes;
  trace.alloc(a + 512, 512).end_block();
  trace.alloc(a + 1024, 512);
  const auto later = trace.bytes();
  // The second slot is new, the first one old, and its block is not there yet.
  file.bytes.assign(later.begin(), later.begin() + trace_builder::first_block);
  constexpr auto slot = format::header_bytes;
  std::copy(old_slot.begin() + slot, old_slot.begin() + slot + trace_builder::slot_bytes,
            file.bytes.begin() + slot);
  follower following(file);
  (void)following.poll(trace::slots_are::copies);
  CHECK(following.reader().facts().events == 1);
  file.bytes = later;
  (void)following.poll(trace::slots_are::copies);
  CHECK(following.reader().facts().events == 3);
  CHECK(following.finish() == read_whole(later).records);
}
