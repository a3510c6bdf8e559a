// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/ranks/find_ranks.h"
#include "analyzer/show/terminal/parts.h"
#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

constexpr std::uint64_t mib = 1 << 20;

[[nodiscard]] run::device_report device_of(std::uint32_t index, std::uint64_t peak) {
  run::device_report device;
  device.facts.device = index;
  device.peak_allocated.totals.allocated = peak;
  device.peak_reserved.totals.reserved = peak;
  device.steps.count = 10;
  return device;
}

[[nodiscard]] run::process_report rank_of(std::uint64_t rank, std::uint64_t peak) {
  run::process_report process;
  process.run.rank = rank;
  process.run.world_size = 4;
  process.run.host = "node";
  process.run.pid = 100 + rank;
  process.run.started_ns = 1000 + rank;
  process.devices.push_back(device_of(static_cast<std::uint32_t>(rank), peak));
  return process;
}

[[nodiscard]] run::run_report four_ranks() {
  return {rank_of(3, 100 * mib), rank_of(1, 100 * mib), rank_of(0, 100 * mib),
          rank_of(2, 100 * mib)};
}

[[nodiscard]] std::vector<std::string> sentences(const ranks::ranks_found& found) {
  std::vector<std::string> all;
  for (const auto& one : found.differences) all.push_back(one.sentence);
  return all;
}

[[nodiscard]] run::call_site site_at(std::uint32_t line, std::uint64_t bytes) {
  run::call_site site;
  site.frames.push_back({"train.py", line, "step", true});
  site.what = attribution::category::activations;
  site.bytes = bytes;
  return site;
}

}  // namespace

TEST_CASE("GIVEN ranks in any order WHEN found THEN they are sorted, and none differs") {
  const auto run = four_ranks();
  const auto found = ranks::find_ranks(run);
  REQUIRE(found.rows.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(found.rows[i].process->run.rank == i);
  CHECK(found.differences.empty());
  CHECK(found.missing.empty());
}

TEST_CASE("GIVEN a rank with a line of its own WHEN found THEN rank and line are named") {
  auto run = four_ranks();
  for (auto& process : run) process.devices[0].at_peak.sites = {site_at(7, 90 * mib)};
  auto& odd = run[3].devices[0];  // rank 2
  odd.peak_allocated.totals.allocated += 50 * mib;
  odd.at_peak.sites.push_back(site_at(9, 50 * mib));
  const auto found = ranks::find_ranks(run);
  REQUIRE(found.differences.size() == 1);
  const auto& one = found.differences[0];
  CHECK(one.row == 2);
  CHECK(one.measure == ranks::rank_measure::peak_allocated);
  CHECK(one.value == 150.0 * mib);
  CHECK(one.usual == 100.0 * mib);
  CHECK(one.compared == 4);
  REQUIRE(one.lines.size() == 1);
  CHECK(one.lines[0].where == "train.py:9 step");
  CHECK(one.lines[0].bytes == 50 * mib);
  CHECK(one.lines[0].usual_bytes == 0);
  CHECK(one.sentence ==
        "rank 2 peaks at 150 MiB, a usual rank has 100 MiB: 50 MiB more, first of all "
        "activations at train.py:9 step (50 MiB more)");
}

TEST_CASE("GIVEN a rank on another one's device WHEN found THEN it is told to choose its own") {
  auto run = four_ranks();
  run[1].devices.push_back(device_of(0, 5 * mib));  // rank 1
  const auto found = ranks::find_ranks(run);
  REQUIRE(found.differences.size() == 1);
  CHECK(found.differences[0].measure == ranks::rank_measure::other_device);
  CHECK(found.differences[0].row == 1);
  CHECK_THAT(
      found.differences[0].sentence,
      Catch::Matchers::StartsWith("rank 1 also takes 5 MiB of cuda:0, which is the device of "
                                  "rank 0"));
}

TEST_CASE("GIVEN ranks without a trace WHEN found THEN they are missing") {
  run::run_report run;
  run.push_back(rank_of(0, mib));
  run.push_back(rank_of(2, mib));
  const auto found = ranks::find_ranks(run);
  CHECK(found.missing == std::vector<std::uint64_t>{1, 3});
  run[0].run.world_size = ~std::uint64_t{0};  // no trace can make a report without end
  CHECK(ranks::find_ranks(run).missing.size() == 1024);
}

TEST_CASE("GIVEN a dry run of some ranks WHEN found THEN the others were played, none is missing") {
  run::run_report run;
  run.push_back(rank_of(0, mib));
  run.push_back(rank_of(511, mib));
  for (auto& process : run) {
    process.run.world_size = 512;
    process.run.running_ranks = {0, 7, 511};
  }
  const auto found = ranks::find_ranks(run);
  CHECK(found.played == 509);
  CHECK(found.missing == std::vector<std::uint64_t>{7});  // it ran, without a trace
}

TEST_CASE("GIVEN ranks that were started again WHEN found THEN attempts are compared apart") {
  auto run = four_ranks();
  for (auto process : four_ranks()) {
    process.run.pid += 1000;
    process.run.started_ns += 1'000'000;
    process.devices[0].peak_allocated.totals.allocated = 300 * mib;
    run.push_back(std::move(process));
  }
  const auto found = ranks::find_ranks(run);
  REQUIRE(found.rows.size() == 8);
  CHECK(found.rows[3].attempt == 0);
  CHECK(found.rows[4].attempt == 1);
  CHECK(sentences(found).empty());
}

TEST_CASE("GIVEN helpers of a rank WHEN they use no device THEN they are no ranks") {
  auto run = four_ranks();
  run::process_report worker;
  worker.run.rank = 1;
  worker.run.pid = 4000;
  run.push_back(worker);
  worker.run.rank.reset();
  run.push_back(worker);
  CHECK(ranks::find_ranks(run).rows.size() == 4);
}

TEST_CASE(
    "GIVEN spawned processes that say no rank WHEN found THEN they are compared all the same") {
  auto run = four_ranks();
  for (std::size_t i = 0; i < run.size(); ++i) {
    run[i].run.rank.reset();
    run[i].run.command = {"python", "-c", "spawn_main(pipe_handle=" + std::to_string(i + 9) + ")"};
  }
  run[0].devices[0].peak_allocated.totals.allocated += 50 * mib;  // pid 103
  const auto found = ranks::find_ranks(run);
  REQUIRE(found.differences.size() == 1);
  CHECK_THAT(found.differences[0].sentence, Catch::Matchers::StartsWith("pid 103 peaks at"));
  CHECK(found.missing.empty());
}

TEST_CASE("GIVEN memory that one rank opened WHEN found THEN it is told whose it is") {
  auto run = four_ranks();
  run[2].shared.exported.push_back({77, 0, 20 * mib});  // rank 0
  run[1].shared.opened.push_back({77, 1, 0});           // rank 1
  run[1].shared.opened.push_back({78, 1, 3 * mib});
  const auto found = ranks::find_ranks(run);
  REQUIRE(found.shared.size() == 2);
  CHECK(found.shared[0].row == 1);
  CHECK(found.shared[0].owner == 0);
  CHECK(found.shared[0].bytes == 20 * mib);
  CHECK_FALSE(found.shared[1].owner);
  CHECK(found.shared[1].bytes == 3 * mib);
}

TEST_CASE("GIVEN little room WHEN ranks are told of THEN no more lines are taken") {
  auto run = four_ranks();
  for (std::size_t i = 0; i < 4; ++i) run[i].devices[0].steps.count = i == 0 ? 3 : 10;
  run[1].devices[0].peak_allocated.totals.allocated *= 2;
  run[1].devices[0].peak_reserved.totals.reserved *= 2;
  const auto found = ranks::find_ranks(run);
  REQUIRE(found.differences.size() == 3);
  for (std::size_t room = 0; room < 8; ++room) {
    text::page page;
    terminal::add_ranks(page, found, room, 96);
    CHECK(page.lines() <= room);
  }
}
