// SPDX-License-Identifier: Apache-2.0
//
// The records that a look leaves in the trace.
#include <array>
#include <atomic>
#include <bit>
#include <map>
#include <string>

#include "interpose/door/sampler/host_look.h"
#include "memtrace/host_samples.h"
#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::test;
using format::kind;

namespace {

std::map<std::string, double> counters_in(const decoded_trace& trace) {
  std::map<std::string, double> found;
  const auto names = trace.of(kind::text);
  for (const auto& record : trace.of(kind::counter)) {
    found[names.at(record.values.at(0) - 1).texts.at(0)] =
        std::bit_cast<double>(record.values.at(1));
  }
  return found;
}

}  // namespace

TEST_CASE(
    "GIVEN a look and a walk WHEN recorded THEN the process, its limit and its workers are there") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  static sampler::host_look look;
  look.define_names(*recording);
  look.begin();
  look.process(*recording);
  CHECK_FALSE(look.children(*recording));
  const std::atomic<std::uint32_t> stop{0};
  look.page_tables(*recording, stop);
  const std::string path = recording->path();
  recording->finish();
  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  const auto counters = counters_in(trace);
  CHECK(counters.at(format::host::resident) > 1e6);
  CHECK(counters.at(format::host::kept) > 1e5);
  CHECK(counters.at(format::host::proportional) > 1e5);
  CHECK(counters.at(format::host::limit) >= counters.at(format::host::limit_used));
  CHECK(counters.at(format::host::workers) == 0);
  for (const auto& record : trace.of(kind::counter)) CHECK(record.thread == 0);
}

TEST_CASE("GIVEN samples of one moment WHEN recorded THEN they are adjacent and have one time") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  const auto name = recording->text_id("a");
  recording->allocator(allocation(512, 512));
  CHECK(recording->samples(std::array{counter_value{name, 1}, counter_value{name, 2}}));
  recording->allocator(allocation(1024, 512));
  const std::string path = recording->path();
  recording->finish();
  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  const auto found = trace.of(kind::counter);
  REQUIRE(found.size() == 2);
  CHECK(found[0].ticks == found[1].ticks);
  const auto allocations = trace.of(kind::alloc);
  CHECK(allocations[0].thread == allocations[1].thread);
  CHECK(allocations[0].ticks < found[0].ticks);
}

TEST_CASE(
    "GIVEN a slot that is full WHEN samples come THEN they are refused and no block is written") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  const auto name = recording->text_id("a");
  int recorded = 0;
  while (recording->samples(std::array{counter_value{name, 1}}) && recorded < 10'000'000)
    ++recorded;
  CHECK(recorded < 10'000'000);
  CHECK_FALSE(recording->samples(std::array{counter_value{name, 1}}));
  const std::string path = recording->path();
  const auto trace = decode_trace(path);
  CHECK(trace.block_sequences.empty());
  CHECK(trace.of(kind::counter).size() == static_cast<std::size_t>(recorded));
  // The program's events open the other slot.
  bool accepted = false;
  for (int i = 0; i < 1000 && !accepted; ++i) {
    recording->allocator(allocation(512, 512));
    accepted = recording->samples(std::array{counter_value{name, 2}});
  }
  CHECK(accepted);
  const auto summary = recording->finish();
  CHECK(summary.complete);
  CHECK(summary.dropped_events == 0);
  CHECK_FALSE(recording->samples(std::array{counter_value{name, 3}}));
}
