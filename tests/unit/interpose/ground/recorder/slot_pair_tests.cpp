// SPDX-License-Identifier: Apache-2.0
//
// Who writes a full slot, and what happens when nobody can for a while.
#include "interpose/ground/recorder/slot_pair.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

// Remembers the blocks' sequences; waits, or fails, as the test wants.
class test_sink final : public block_sink {
 public:
  int append(std::span<const unsigned char> bytes) noexcept override {
    const std::lock_guard holder(gate);
    if (error != 0) return error;
    format::block_header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    sequences.push_back(header.sequence);
    return 0;
  }
  std::mutex gate;
  int error = 0;
  std::vector<std::uint64_t> sequences;
};

struct memory_slots {
  static constexpr slot_shape shape{4096 - 64 - 512, 512};
  std::vector<unsigned char> memory = std::vector<unsigned char>(2 * shape.bytes());
  slot at(unsigned i) { return {memory.data() + i * shape.bytes(), shape}; }
};

void fill(slot& open, std::uint64_t sequence) {
  open.open(sequence, 0, 0, 0);
  unsigned char* const end = open.record_end();
  *end = 1;
  open.commit(end + 1, open.time_end());
}

std::uint64_t sequence_in(const memory_slots& slots, unsigned index) {
  format::slot_header header;
  std::memcpy(&header, slots.memory.data() + index * memory_slots::shape.bytes(), sizeof header);
  return header.sequence;
}

bool no_threads = false;

}  // namespace

// In front of the C library's.
extern "C" int pthread_create(pthread_t* made, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) noexcept {
  if (no_threads) return EAGAIN;
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(made, attributes, run, argument);
}

TEST_CASE("where no thread can be had an event does not ask the disk") {
  memory_slots slots;
  test_sink sink;
  slot_pair pair(slots.at(0), slots.at(1), sink, true);
  no_threads = true;
  fill(pair.current(), 1);
  CHECK(pair.advance() == 0);  // the other slot is still free
  fill(pair.current(), 2);
  CHECK(pair.advance() == EAGAIN);
  CHECK(!pair.can_advance());
  CHECK(sink.sequences.empty());
  no_threads = false;
  while (!pair.can_advance()) std::this_thread::yield();
  REQUIRE(pair.advance() == 0);
  fill(pair.current(), 3);
  CHECK(pair.finish(true, 0, 0) == 0);
  CHECK(sink.sequences == std::vector<std::uint64_t>{1, 2, 3});
}

TEST_CASE("without a thread each full slot is written by the event that fills it") {
  memory_slots slots;
  test_sink sink;
  slot_pair pair(slots.at(0), slots.at(1), sink, false);
  for (std::uint64_t sequence = 1; sequence <= 5; ++sequence) {
    fill(pair.current(), sequence);
    REQUIRE(pair.advance() == 0);
    CHECK(sink.sequences.size() == sequence);
  }
  pair.current().open(6, 0, 0, 0);
  CHECK(pair.finish(true, 0, 0) == 0);
  CHECK(sink.sequences == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
  CHECK(sequence_in(slots, 0) == 0);
  CHECK(sequence_in(slots, 1) == 0);
}

TEST_CASE("when both slots are full and the disk is slow the event waits only so long") {
  memory_slots slots;
  test_sink sink;
  slot_pair pair(slots.at(0), slots.at(1), sink, true);
  sink.gate.lock();
  fill(pair.current(), 1);
  REQUIRE(pair.advance() == 0);
  fill(pair.current(), 2);
  CHECK(pair.advance() == ETIMEDOUT);  // with no bound it would wait for the gate
  CHECK(!pair.can_advance());
  // The patience is used up: it comes back a hundred times slower than time goes.
  const auto before = monotonic_ns();
  for (int i = 0; i < 100; ++i) CHECK(pair.advance() == ETIMEDOUT);
  CHECK(monotonic_ns() - before < 9'000'000'000u);  // with new patience each time: 10 s
  sink.gate.unlock();
  while (!pair.can_advance()) std::this_thread::yield();
  REQUIRE(pair.advance() == 0);
  fill(pair.current(), 3);
  CHECK(pair.finish(true, 0, 0) == 0);
  CHECK(sink.sequences == std::vector<std::uint64_t>{1, 2, 3});
}

TEST_CASE("the end does not wait for a disk that does not answer, and loses nothing") {
  memory_slots slots;
  test_sink sink;
  slot_pair pair(slots.at(0), slots.at(1), sink, true);
  sink.gate.lock();
  fill(pair.current(), 1);
  REQUIRE(pair.advance() == 0);
  fill(pair.current(), 2);
  CHECK(pair.finish(true, 0, 0) == ETIMEDOUT);
  CHECK(sequence_in(slots, 0) == 1);
  CHECK(sequence_in(slots, 1) == 2);
  sink.gate.unlock();  // the thread is still at it
}

TEST_CASE("a block that cannot be appended stays in its slot until it can") {
  memory_slots slots;
  test_sink sink;
  slot_pair pair(slots.at(0), slots.at(1), sink, false);
  sink.error = ENOSPC;
  fill(pair.current(), 1);
  CHECK(pair.advance() == 0);  // the other slot is still free
  fill(pair.current(), 2);
  CHECK(pair.advance() == ENOSPC);
  CHECK(sequence_in(slots, 0) == 1);
  CHECK(sequence_in(slots, 1) == 2);
  sink.error = 0;
  CHECK(pair.finish(true, 0, 0) == 0);
  CHECK(sink.sequences == std::vector<std::uint64_t>{1, 2});
}
