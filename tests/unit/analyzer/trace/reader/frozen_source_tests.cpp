// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/frozen_source.h"

#include <atomic>
#include <string>
#include <thread>

#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/find_traces.h"
#include "tests/unit/analyzer/trace/reader/followed.h"
#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

void record_allocations(recorder& to, std::uint64_t from, std::uint64_t count) {
  for (auto i = from; i < from + count; ++i) {
    auto event = allocation(0x7f0000000000 + i * 512, 512 + i % 100);
    to.allocator(event);
    if (i % 3 == 0) (void)to.text_id("layer." + std::to_string(i));
  }
}

[[nodiscard]] std::string trace_in(const temporary_folder& folder) {
  const auto found = trace::traces_in(folder.path());
  REQUIRE(found.size() == 1);
  return found[0];
}

}  // namespace

TEST_CASE("GIVEN a trace that is taken WHEN the program goes on THEN it stays as it was") {
  const temporary_folder folder;
  auto made = make_recorder(folder);
  record_allocations(*made, 0, 5000);
  const auto path = trace_in(folder);
  auto taken = trace::frozen_source::take(path);
  REQUIRE(taken);
  auto open = trace::file_source::open(path);
  REQUIRE(open);
  const auto then = read_whole(*open);
  CHECK(then.facts.events == 5000);
  record_allocations(*made, 5000, 5000);
  for (int reading = 0; reading < 2; ++reading) {
    const auto found = read_whole(**taken);
    CHECK(found.facts.events == then.facts.events);
    CHECK((found.records == then.records));
  }
  (void)made->finish();
  CHECK(read_whole(**taken).facts.events == 5000);
}

TEST_CASE("GIVEN a program that records WHEN its trace is taken THEN each reading is the same") {
  const temporary_folder folder;
  auto made = make_recorder(folder);
  const auto path = trace_in(folder);
  constexpr std::uint64_t takes = 8;
  constexpr std::uint64_t of_one = 1500;  // records, which come while a trace is taken
  std::atomic<std::uint64_t> wanted{0};
  std::atomic<std::uint64_t> recorded{0};
  std::thread program([&] {
    while (recorded < takes * of_one) {
      if (recorded == wanted) {
        std::this_thread::yield();
        continue;
      }
      record_allocations(*made, recorded, 100);
      recorded += 100;
    }
  });
  std::uint64_t latest = 0;
  for (std::uint64_t i = 1; i <= takes; ++i) {
    CAPTURE(i);
    wanted = i * of_one;
    while (recorded < (i - 1) * of_one + 100) std::this_thread::yield();
    const std::uint64_t at_least = recorded;
    auto taken = trace::frozen_source::take(path);
    CHECK(taken);
    if (!taken) continue;
    const auto found = read_whole(**taken);
    const auto again = read_whole(**taken);
    CHECK((found.records == again.records));
    CHECK(found.facts.gaps.empty());
    CHECK(found.facts.events >= at_least);
    CHECK(found.facts.events >= latest);
    latest = found.facts.events;
  }
  program.join();
  CHECK(latest > 0);
}

TEST_CASE("GIVEN no trace WHEN it is taken THEN the error is the reader's") {
  const temporary_folder folder;
  auto none = trace::frozen_source::take(folder.path() + "/none.mtrace");
  REQUIRE_FALSE(none);
  CHECK(none.failure().code == trace::error_code::not_found);
  const auto empty = folder.path() + "/empty.mtrace";
  std::fclose(std::fopen(empty.c_str(), "w"));
  auto nothing = trace::frozen_source::take(empty);
  REQUIRE_FALSE(nothing);
  CHECK(nothing.failure().code == trace::error_code::empty_file);
}
