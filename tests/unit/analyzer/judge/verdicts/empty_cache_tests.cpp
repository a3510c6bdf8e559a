// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <span>
#include <vector>

#include "analyzer/judge/verdicts/empty_cache_use.h"
#include "analyzer/trace/reader/reader.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using test::trace_builder;

namespace {

constexpr std::uint64_t mebibyte = 1u << 20;
constexpr std::uint64_t base = 0x7f0000000000;

void empty_cache(trace_builder& trace, bool gives_back, std::uint64_t stack = 0) {
  trace.operation(format::operation::empty_cache_begin);
  if (gives_back) trace.record(format::kind::segment_free, base, 20 * mebibyte, stack);
  trace.operation(format::operation::empty_cache_end);
}

[[nodiscard]] std::optional<verdicts::habit> habit_of(const trace_builder& trace,
                                                      std::uint64_t steps,
                                                      std::span<const std::uint64_t> ends = {}) {
  const auto bytes = trace.bytes();
  trace::memory_source source(std::as_bytes(std::span(bytes)));
  auto reader = trace::reader::open(source);
  remedies::empty_cache_use use(reader->names());
  (void)reader->read(use);
  return use.finish(steps, ends);
}

}  // namespace

TEST_CASE("GIVEN empty_cache in each batch WHEN all comes back THEN it is named with its cost") {
  trace_builder trace;
  const auto stack =
      trace.stack({{"/srv/ada/train.py", 12, "train"},
                   {"/usr/lib/python3/site-packages/torch/cuda/memory.py", 200, "empty_cache"}});
  trace.segment(base, 20 * mebibyte);
  for (int step = 0; step < 20; ++step) {
    empty_cache(trace, true, stack);
    trace.segment(base, 20 * mebibyte);
  }
  const auto found = habit_of(trace, 20);
  REQUIRE(found);
  CHECK(found->id == "empty_cache_often");
  CHECK(found->times == 20);
  // Two records a call, a microsecond apart, of the four of each step.
  CHECK(found->nanoseconds == 20 * 2 * trace_builder::step_ns);
  CHECK(found->title.find("train.py:12 train") != std::string::npos);
  CHECK(found->evidence ==
        "20 calls in 20 steps: 0.04 ms inside them, 51.3 % of the time from the first to the "
        "last; 20 segments (400 MiB) given back to CUDA, 380 MiB of 380 MiB asked for "
        "again before the next call");
}

TEST_CASE("GIVEN empty_cache that gives nothing back THEN it is named, too") {
  trace_builder trace;
  trace.segment(base, 20 * mebibyte);
  for (int step = 0; step < 20; ++step) empty_cache(trace, false);
  const auto found = habit_of(trace, 0);
  REQUIRE(found);
  CHECK(found->evidence.find("there was nothing to give back") != std::string::npos);
}

TEST_CASE("GIVEN empty_cache now and then THEN nothing is said") {
  trace_builder trace;
  trace.segment(base, 20 * mebibyte);
  for (int step = 0; step < 5; ++step) {
    empty_cache(trace, true);
    trace.segment(base, 20 * mebibyte);
  }
  CHECK(!habit_of(trace, 20));
  for (int step = 0; step < 15; ++step) {
    empty_cache(trace, true);
    trace.segment(base, 20 * mebibyte);
  }
  CHECK(!habit_of(trace, 1000));  // 20 times in a thousand steps
  CHECK(habit_of(trace, 100));
}

TEST_CASE("GIVEN empty_cache whose memory nobody here asks for again THEN nothing is said") {
  trace_builder trace;
  for (int step = 0; step < 20; ++step) {
    trace.segment(base, 20 * mebibyte);
    trace.operation(format::operation::empty_cache_begin);
    trace.record(format::kind::segment_free, base, 100 * mebibyte);
    trace.operation(format::operation::empty_cache_end);
  }
  CHECK(!habit_of(trace, 20));
}

TEST_CASE("GIVEN many calls of empty_cache in one step of many THEN nothing is said") {
  trace_builder trace;
  trace.segment(base, 20 * mebibyte);
  for (int call = 0; call < 20; ++call) {
    empty_cache(trace, true);
    trace.segment(base, 20 * mebibyte);
  }
  // All calls are within the first 80 µs or so: in the first step, or spread over the first twenty.
  std::vector<std::uint64_t> after_all(100);
  std::vector<std::uint64_t> between(100);
  for (std::uint64_t step = 0; step < 100; ++step) {
    after_all[step] = (step + 1) * 10'000'000;
    between[step] = (step + 1) * 4 * trace_builder::step_ns;
  }
  CHECK(!habit_of(trace, 100, after_all));
  CHECK(habit_of(trace, 100, between));
}
