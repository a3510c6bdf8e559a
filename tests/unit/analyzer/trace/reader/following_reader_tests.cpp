// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/following_reader.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/analyzer/trace/reader/seen_events.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

constexpr std::uint64_t a = 0x7f0000000000;

// A file whose content is another one at each poll.
class changing_source final : public trace::byte_source {
 public:
  explicit changing_source(byte_vector first) : bytes(std::move(first)) {}
  std::size_t read(std::uint64_t offset, std::span<std::byte> out) override {
    trace::memory_source now(std::as_bytes(std::span(bytes)));
    return now.read(offset, out);
  }
  std::uint64_t size() const override { return bytes.size(); }
  byte_vector bytes;
};

struct follower {
  explicit follower(byte_vector first) : source(std::move(first)) {
    auto opened = trace::following_reader::open(source);
    REQUIRE(opened);
    reader = std::move(*opened);
  }
  void poll(const byte_vector& now) {
    source.bytes = now;
    while (reader->poll(seen, 1)) {
    }
  }
  changing_source source;
  std::unique_ptr<trace::following_reader> reader;
  event_list seen;
};

void check_equal(const event_list& one, const event_list& other) {
  REQUIRE(one.heads.size() == other.heads.size());
  REQUIRE(one.allocator.size() == other.allocator.size());
  REQUIRE(one.reports.size() == other.reports.size());
  CHECK(one.infos == other.infos);
  CHECK(one.messages == other.messages);
  for (std::size_t i = 0; i < one.heads.size(); ++i) {
    REQUIRE(one.heads[i].number == other.heads[i].number);
    REQUIRE(one.heads[i].time_ns == other.heads[i].time_ns);
  }
  for (std::size_t i = 0; i < one.allocator.size(); ++i) {
    REQUIRE(one.allocator[i].address == other.allocator[i].address);
    REQUIRE(one.allocator[i].size == other.allocator[i].size);
    REQUIRE(one.allocator[i].stack.value == other.allocator[i].stack.value);
    REQUIRE(one.allocator[i].kind == other.allocator[i].kind);
  }
  for (std::size_t i = 0; i < one.reports.size(); ++i) {
    REQUIRE(one.reports[i].allocated == other.reports[i].allocated);
    REQUIRE(one.reports[i].reserved == other.reports[i].reserved);
  }
}

}  // namespace

TEST_CASE(
    "GIVEN a trace that grows record by record WHEN followed at random moments THEN each "
    "record comes once, as from the finished file") {
  const int seed = GENERATE(range(1, 40));
  std::minstd_rand random(static_cast<unsigned>(seed));
  trace_builder trace;
  trace.info("command", "train.py").segment(a, 64_MiB);
  follower live(trace.bytes());
  std::vector<std::uint64_t> alive;
  for (int i = 0; i < 300; ++i) {
    const auto stack = random() % 3 == 0 ? trace.stack({{"train.py", random() % 90, "main"}}) : 0;
    if (alive.empty() || random() % 3 != 0) {
      const auto address = a + static_cast<std::uint64_t>(i) * 4096;
      trace.alloc(address, 1 + random() % 4096, stack);
      alive.push_back(address);
    } else {
      trace.free(alive.back());
      alive.pop_back();
    }
    if (random() % 40 == 0) trace.end_block();
    if (random() % 7 == 0) live.poll(trace.bytes());
  }
  CHECK(live.reader->facts().events <= trace.events());
  const auto whole = trace.clean_exit();
  live.poll(whole);
  CHECK(live.reader->has_trailer());
  CHECK(live.reader->facts().clean_exit);
  CHECK_FALSE(live.reader->facts().truncated);
  check_equal(live.seen, read(whole).seen);
}

TEST_CASE(
    "GIVEN a copy that arrives in pieces of any length WHEN followed THEN nothing is lost and "
    "half a block is waited for") {
  trace_builder trace;
  for (std::uint64_t i = 0; i < 60; ++i) {
    trace.alloc(a + i * 4096, 1000 + i);
    if (i % 10 == 9) trace.end_block();
  }
  const auto whole = trace.clean_exit();
  const int seed = GENERATE(range(1, 20));
  std::minstd_rand random(static_cast<unsigned>(seed));
  std::size_t size = trace_builder::first_block;
  const auto prefix = [&] {
    return byte_vector(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
  };
  follower live(prefix());
  std::uint64_t before = 0;
  while (size < whole.size()) {
    size = std::min(whole.size(), size + 1 + random() % 120);
    live.poll(prefix());
    CHECK(live.reader->facts().events >= before);
    before = live.reader->facts().events;
    CHECK_FALSE(live.reader->is_stuck());
  }
  check_equal(live.seen, read(whole).seen);
}

TEST_CASE(
    "GIVEN records seen in a slot WHEN their block is written while the slot still holds them "
    "THEN they come once") {
  trace_builder trace;
  trace.alloc(a, 4_MiB).free(a);
  const auto in_slot = trace.bytes();
  trace.end_block();
  auto both = trace.bytes();
  // The block is there, and its slot has not been emptied yet.
  std::copy(in_slot.begin() + format::header_bytes, in_slot.begin() + trace_builder::first_block,
            both.begin() + format::header_bytes);
  follower live(in_slot);
  live.poll(in_slot);
  CHECK(live.seen.allocator.size() == 3);
  live.poll(both);
  CHECK(live.seen.allocator.size() == 3);
  trace.alloc(a, 1_MiB);
  live.poll(trace.bytes());
  CHECK(live.seen.allocator.size() == 4);
}

TEST_CASE(
    "GIVEN a block that is not there yet WHEN the slot after it is THEN nothing is guessed, "
    "and all comes once it is") {
  trace_builder trace;
  trace.alloc(a, 1_MiB);
  follower live(trace.bytes());
  trace.end_block().alloc(a + 4_MiB, 1_MiB);
  const auto whole = trace.bytes();
  auto without = byte_vector(whole.begin(), whole.begin() + trace_builder::first_block);
  live.poll(without);
  CHECK(live.seen.allocator.empty());
  CHECK(live.reader->facts().missing_blocks == 1);
  live.poll(whole);
  CHECK(live.seen.allocator.size() == 2);
  CHECK(live.reader->facts().missing_blocks == 0);
}

TEST_CASE(
    "GIVEN a trace that was cut or replaced WHEN followed THEN it says so and hands on "
    "nothing more") {
  trace_builder trace;
  trace.alloc(a, 1_MiB).end_block();
  follower live(trace.bytes());
  live.poll(trace.bytes());
  REQUIRE(live.seen.allocator.size() == 1);
  SECTION("cut") {
    auto cut = trace.bytes();
    cut.resize(trace_builder::first_block);
    live.poll(cut);
    CHECK(live.reader->is_another());
  }
  SECTION("another trace") {
    trace_builder other;
    other.header.process_id += 1;
    live.poll(other.alloc(a, 2_MiB).alloc(a + 4_MiB, 1).bytes());
    CHECK(live.reader->is_another());
  }
  CHECK(live.seen.allocator.size() == 1);
}
