// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/trace/reader/find_traces.h"
#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

using paths = std::vector<std::string>;

// What the folder holds that it did not hold before.
[[nodiscard]] paths new_in(const temporary_folder& folder, const paths& known) {
  auto all = trace::traces_in(folder.path());
  std::erase_if(all, [&](const auto& path) { return std::ranges::count(known, path) != 0; });
  return all;
}

// A process that begins and ends here. Empty: memtrace run did not start it.
[[nodiscard]] std::string record_one(const temporary_folder& folder, const std::string& run = {}) {
  const auto known = trace::traces_in(folder.path());
  auto made = make_recorder(folder);
  if (!run.empty()) made->info(format::info_key::run, run);
  auto event = allocation(0x7f0000000000, 512);
  made->allocator(event);
  (void)made->finish();
  made.reset();
  const auto found = new_in(folder, known);
  REQUIRE(found.size() == 1);
  return found[0];
}

[[nodiscard]] trace::newest_run newest_in(const temporary_folder& folder) {
  return trace::newest_of(trace::traces_in(folder.path()));
}

}  // namespace

TEST_CASE("GIVEN two processes one after the other THEN they are two runs, the later one newest") {
  const temporary_folder folder;
  (void)record_one(folder);
  const auto second = record_one(folder);
  const auto found = newest_in(folder);
  CHECK(found.runs == 2);
  CHECK(found.traces == paths{second});
}

TEST_CASE("GIVEN two processes of one memtrace run THEN a process between them is of that run") {
  const temporary_folder folder;
  const auto first = record_one(folder, "1764270000000000000");
  const auto between = record_one(folder);
  const auto second = record_one(folder, "1764270000000000000");
  auto all = paths{first, between, second};
  std::ranges::sort(all);
  const auto found = newest_in(folder);
  CHECK(found.runs == 1);
  CHECK(found.traces == all);
}

TEST_CASE("GIVEN two memtrace runs one after the other THEN the later one is newest") {
  const temporary_folder folder;
  (void)record_one(folder, "1764270000000000000");
  (void)record_one(folder, "1764270000000000000");
  const auto third = record_one(folder, "1764270000000000001");
  const auto found = newest_in(folder);
  CHECK(found.runs == 2);
  CHECK(found.traces == paths{third});
}

TEST_CASE("GIVEN a process that lives WHEN another one begins and ends THEN they are one run") {
  const temporary_folder folder;
  const auto before = record_one(folder);
  auto living = make_recorder(folder);
  const auto long_one = new_in(folder, {before});
  REQUIRE(long_one.size() == 1);
  auto both = paths{long_one[0], record_one(folder)};
  std::ranges::sort(both);
  const auto found = newest_in(folder);
  CHECK(found.runs == 2);
  CHECK(found.traces == both);
}

TEST_CASE("GIVEN a killed process whose file was copied later THEN its last event is its end") {
  const temporary_folder folder;
  const auto first = record_one(folder);
  // The trailer is what a killed process has not written; the copy is younger than what follows.
  std::filesystem::resize_file(first, std::filesystem::file_size(first) - sizeof(format::trailer));
  const auto second = record_one(folder);
  const auto later = std::filesystem::last_write_time(second) + std::chrono::hours(1);
  std::filesystem::last_write_time(first, later);
  const auto found = newest_in(folder);
  CHECK(found.runs == 2);
  CHECK(found.traces == paths{second});
}

TEST_CASE("GIVEN a file that is no trace THEN it is left to whoever opens it") {
  const temporary_folder folder;
  const auto trace = record_one(folder);
  const auto other = folder.path() + "/other.mtrace";
  std::ofstream(other) << "not a trace";
  auto all = paths{trace, other};
  std::ranges::sort(all);
  CHECK(newest_in(folder).traces == all);
}
