// SPDX-License-Identifier: Apache-2.0
//
// Files that no recorder wrote: cut off, flipped, hostile.
#include <algorithm>
#include <initializer_list>

#include "analyzer/trace/reader/reader.h"
#include "tests/unit/analyzer/trace/reader/seen_events.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;
using trace::error_code;

namespace {

constexpr std::uint64_t a = 0x7f0000000000;

[[nodiscard]] trace_builder two_blocks_and_a_slot() {
  trace_builder trace;
  const auto stack = trace.stack({{"train.py", 3, "main"}, {"model.py", 9, "forward"}});
  trace.info("host", "node1").segment(a, 20_MiB).alloc(a, 1_MiB, stack).end_block();
  trace.alloc(a + 1_MiB, 2_MiB, stack).free(a).end_block();
  trace.alloc(a, 3_MiB, stack).cuda_call("cudaMalloc", a + 1_GiB, 4_MiB);
  return trace;
}

[[nodiscard]] bool same_events(const event_list& one, const event_list& other) {
  return std::ranges::equal(one.allocator, other.allocator, [](const auto& x, const auto& y) {
    return x.kind == y.kind && x.address == y.address && x.size == y.size && x.stack == y.stack;
  });
}

// How the reader refuses a record area, after one good record.
[[nodiscard]] reading read_raw(std::initializer_list<unsigned> bytes) {
  trace_builder trace;
  trace.alloc(a, 512).raw(bytes);
  for (int i = 0; i < 8; ++i) trace.time();
  return read(trace.bytes());
}

[[nodiscard]] byte_vector with_header(void (*change)(format::file_header&)) {
  trace_builder trace;
  change(trace.header);
  return trace.alloc(a, 512).bytes();
}

}  // namespace

TEST_CASE("GIVEN a trace cut at any byte WHEN read THEN a prefix of its events comes out") {
  auto trace = two_blocks_and_a_slot();
  const auto slot_and_blocks = trace.bytes();
  const auto clean = trace.clean_exit();
  for (const auto* whole : {&slot_and_blocks, &clean}) {
    const auto all = read(*whole);
    REQUIRE(all.facts.events == trace.events());
    std::size_t events_before = 0;
    for (std::size_t size = 0; size < whole->size(); ++size) {
      const auto cut = read(byte_vector(whole->begin(), whole->begin() + size));
      if (size < sizeof(format::file_header)) {
        REQUIRE(cut.refused);
        REQUIRE(cut.refused->code ==
                (size == 0 ? error_code::empty_file : error_code::truncated_header));
        continue;
      }
      REQUIRE_FALSE(cut.refused);
      REQUIRE_FALSE(cut.facts.damage);
      REQUIRE(cut.facts.events >= events_before);
      REQUIRE((cut.facts.truncated || cut.facts.events == all.facts.events));
      for (std::size_t i = 0; i < cut.seen.allocator.size(); ++i) {
        REQUIRE(cut.seen.allocator[i].address == all.seen.allocator[i].address);
        REQUIRE(cut.seen.allocator[i].size == all.seen.allocator[i].size);
      }
      events_before = cut.facts.events;
    }
  }
}

TEST_CASE("GIVEN a finished trace WHEN its last byte is missing THEN it says truncated") {
  auto bytes = two_blocks_and_a_slot().clean_exit();
  bytes.pop_back();
  const auto done = read(bytes);
  CHECK(done.facts.truncated);
  CHECK_FALSE(done.facts.clean_exit);
  CHECK_FALSE(done.facts.damage);
}

TEST_CASE("GIVEN any flipped bit in the blocks WHEN read THEN it is noticed or changes nothing") {
  const auto whole = two_blocks_and_a_slot().clean_exit();
  const auto all = read(whole);
  for (auto at = trace_builder::first_block; at < whole.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto flipped = whole;
      flipped[at] = static_cast<unsigned char>(flipped[at] ^ 1u << bit);
      const auto done = read(flipped);
      CAPTURE(at, bit);
      // A zstd frame has a bit that decoders ignore.
      REQUIRE((done.facts.truncated || same_events(done.seen, all.seen)));
      if (done.facts.damage) {
        REQUIRE(done.facts.damage->offset <= at);
        REQUIRE(done.facts.damage->offset >= trace_builder::first_block);
      }
      REQUIRE(done.facts.events <= all.facts.events);
    }
  }
}

TEST_CASE("GIVEN any flipped bit in the fixed header WHEN read THEN the file is refused") {
  const auto whole = two_blocks_and_a_slot().clean_exit();
  for (std::size_t at = 0; at < offsetof(format::file_header, state); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto flipped = whole;
      flipped[at] = static_cast<unsigned char>(flipped[at] ^ 1u << bit);
      CAPTURE(at, bit);
      REQUIRE(read(flipped).refused);
    }
  }
}

TEST_CASE("GIVEN any flipped bit in slot bytes WHEN read THEN the reader comes back") {
  const auto whole = two_blocks_and_a_slot().bytes();
  for (std::size_t at = format::header_bytes; at < trace_builder::first_block; ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      if (whole[at] == 0 && at % 64 >= 8) continue;  // most of a slot is empty
      auto flipped = whole;
      flipped[at] = static_cast<unsigned char>(flipped[at] ^ 1u << bit);
      const auto done = read(flipped);
      REQUIRE_FALSE(done.refused);
      REQUIRE(done.seen.heads.size() >= 5);  // the two blocks
    }
  }
}

TEST_CASE("GIVEN a damaged block WHEN read THEN what precedes it is there, and a sentence") {
  auto bytes = two_blocks_and_a_slot().clean_exit();
  const auto second = [&] {
    constexpr unsigned char magic[] = {'M', 'T', 'B', 'K'};
    const auto from = bytes.begin() + trace_builder::first_block + 1;
    return static_cast<std::size_t>(
        std::search(from, bytes.end(), std::begin(magic), std::end(magic)) - bytes.begin());
  }();
  bytes[second + sizeof(format::block_header) + 3] ^= 0xff;
  const auto done = read(bytes);
  CHECK(done.facts.events == 2);
  REQUIRE(done.facts.damage);
  CHECK(done.facts.damage->code == error_code::corrupt_block);
  CHECK(done.facts.damage->offset == second);
  CHECK(done.facts.damage->message.find(std::to_string(second)) != std::string::npos);
  CHECK(done.facts.damage->message.find("copy the trace again") != std::string::npos);
}

TEST_CASE("GIVEN headers that cannot be WHEN read THEN each is refused with its own code") {
  CHECK(read({}).refused->code == error_code::empty_file);
  CHECK(read({'P', 'K', 3, 4}).refused->code == error_code::not_a_trace);
  CHECK(read(byte_vector(5000, 0)).refused->code == error_code::not_a_trace);
  CHECK(read(with_header([](auto& h) { h.version = 2; })).refused->code ==
        error_code::wrong_version);
  CHECK(read(with_header([](auto& h) { h.version = 2 | 1 << 16; })).refused->code ==
        error_code::wrong_version);
  const auto wrong = {
      with_header([](auto& h) { h.slot_bytes = 0; }),
      with_header([](auto& h) { h.slot_bytes = 1u << 31; }),
      with_header([](auto& h) { h.slot_count = 3; }),
      with_header([](auto& h) { h.slot_record_capacity = 0xffffffff; }),
      with_header([](auto& h) { h.header_bytes = 0; }),
      with_header([](auto& h) { h.ns_per_tick = -1; }),
      with_header([](auto& h) { h.ns_per_tick = std::numeric_limits<double>::infinity(); }),
      with_header([](auto& h) { h.tick_shift = 64; }),
  };
  for (const auto& bytes : wrong) {
    REQUIRE(read(bytes).refused);
    CHECK(read(bytes).refused->code == error_code::corrupt_header);
  }
}

TEST_CASE("GIVEN records that cannot be WHEN read THEN the record before them is kept") {
  const auto cases = {
      read_raw({0x00}),                                            // the escape alone
      read_raw({0x20, 0x20, 0}),                                   // the escape with a flag
      read_raw({0x00, 0x08, 1, 0}),                                // a kind that fits a tag
      read_raw({0x00, 0x40, 9, 0}),                                // shorter than it says
      read_raw({0x00, 0x40, 0xff, 0xff, 0xff, 0x0f}),              // longer than a record may be
      read_raw({0x00, 0x20, 7, 9, 0, 0, 0, 0, 0, 0}),              // file 9 is not defined
      read_raw({0x00, 0x20, 3, 0, 0, 0}),                          // fields are missing
      read_raw({0x08 | 4 << 5, 0, 0, 0}),                          // a flag that alloc has not
      read_raw({0x08, 0x80}),                                      // ends inside a number
      read_raw({0x08, 0, 0, 9}),                                   // stack 9 is not defined
      read_raw({0x04, 5, 1}),                                      // parent 5 is not defined
      read_raw({0x04, 0, 0}),                                      // a stack without a frame
      read_raw({0x03, 1, 1, 1}),                                   // texts are not defined
      read_raw({0x02, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}),  // a text beyond the block
      read_raw({0x07, 0x80, 0x01, 0}),                             // device 128
      read_raw({0x07, 0, 4}),                                      // thread 4 is not defined
      read_raw(
          {0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0, 0}),  // 65 bits
      read_raw({0x18, 0xff, 0xff, 0xff, 0x0f}),  // a later kind, longer than a record may be
      read_raw({0x13, 9, 0, 0, 0, 0}),           // api text 9 is not defined
  };
  for (const auto& done : cases) {
    REQUIRE(done.facts.damage);
    CHECK(done.facts.damage->code == error_code::corrupt_record);
    CHECK(done.facts.damage->offset == format::header_bytes);
    CHECK(done.facts.damage->message.find("byte 12 of block 1 ") != std::string::npos);
    CHECK(done.facts.events == 1);
    CHECK(done.seen.allocator.at(0).address == a);
  }
}

TEST_CASE("GIVEN a time that belongs to no record WHEN read THEN the times are not trusted") {
  trace_builder trace;
  trace.alloc(a, 512).time();
  const auto done = read(trace.bytes());
  REQUIRE(done.facts.damage);
  CHECK(done.facts.damage->code == error_code::corrupt_record);
}

TEST_CASE("GIVEN a slot without times WHEN read THEN that is damage and not a time of 0") {
  trace_builder trace;
  trace.alloc(a, 512).raw({0x08, 0, 0, 0});
  const auto done = read(trace.bytes());
  REQUIRE(done.facts.damage);
  CHECK(done.facts.events == 1);
}
