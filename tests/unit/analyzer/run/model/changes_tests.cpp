// SPDX-License-Identifier: Apache-2.0
//
// The one list of what to change: what is in it, what supersedes what, and in which order.
#include "analyzer/run/model/changes.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"

using namespace memtrace;
using growth::shape;
using run::change_from;

namespace {

constexpr std::int64_t mebibyte = 1 << 20;

[[nodiscard]] advice::piece piece(std::string id, std::int64_t mebibytes, std::string group = {}) {
  advice::piece made;
  made.what.id = std::move(id);
  made.what.group = std::move(group);
  made.saves_bytes = mebibytes * mebibyte;
  return made;
}

[[nodiscard]] verdicts::habit habit(std::string id, std::uint64_t nanoseconds) {
  verdicts::habit made;
  made.id = std::move(id);
  made.nanoseconds = nanoseconds;
  return made;
}

// 1 MiB a step that a list keeps, of one line; so many MiB have stayed.
[[nodiscard]] verdicts::verdict leak(verdicts::subject about, std::uint32_t site,
                                     std::uint64_t mebibytes) {
  verdicts::verdict made;
  made.about = std::move(about);
  made.found.shape = shape::accumulating;
  auto& who = made.suspects.emplace_back();
  who.site = site;
  who.bytes = mebibytes * mebibyte;
  who.bytes_per_step = mebibyte;
  who.fix = verdicts::remedy{.id = "clear_list_" + std::to_string(site),
                             .cause = "It keeps them.",
                             .change = "Clear it.",
                             .caution = {},
                             .saves_bytes_per_step = mebibyte};
  return made;
}

[[nodiscard]] verdicts::subject on_device(std::uint32_t device) {
  return {verdicts::subject_kind::device, device, {}};
}

[[nodiscard]] std::string ids_of(const run::process_report& process) {
  std::string ids;
  for (const auto& one : run::changes_of(process)) ids += one.id + ' ';
  return ids;
}

[[nodiscard]] advice::piece free_piece(std::string id, std::int64_t mebibytes) {
  auto made = piece(std::move(id), mebibytes);
  made.what.free = true;
  return made;
}

[[nodiscard]] run::process_report with(std::vector<advice::piece> pieces) {
  run::process_report made;
  made.advice.pieces = std::move(pieces);
  return made;
}

}  // namespace

TEST_CASE("GIVEN a piece that tells of a habit THEN it takes the habit's place") {
  auto loop = piece("leave_out", 0, "calls");
  loop.what.tells_of = "calls_often";
  auto process = with({piece("batch", 10), loop, piece("put_in", 0, "calls")});
  process.findings.habits = {habit("calls_often", 5), habit("another", 7)};
  CHECK(ids_of(process) == "another batch leave_out put_in ");
  const auto changes = run::changes_of(process);
  CHECK(changes[2].takes_place_of_habit);
  CHECK_FALSE(changes[1].takes_place_of_habit);
  // Where the habit is told, the next of the group is not told yet.
  CHECK_FALSE(changes[3].superseded);
  CHECK(changes[0].from == change_from::habit);
  CHECK(changes[0].saves_ns == 7);
}

TEST_CASE("GIVEN pieces of a group THEN the first supersedes the others, which stay in the list") {
  const auto changes =
      run::changes_of(with({piece("half", 30, "batch"), piece("quarter", 20, "batch"),
                            piece("alone", 10), piece("alone too", 5)}));
  REQUIRE(changes.size() == 4);
  CHECK_FALSE(changes[0].superseded);
  CHECK(changes[1].superseded);
  CHECK_FALSE(changes[2].superseded);
  CHECK_FALSE(changes[3].superseded);
}

TEST_CASE(
    "GIVEN pieces, remedies and habits THEN what is free comes first, each by what it saves") {
  auto process =
      with({piece("large", 100), piece("small", 2), piece("costs", -4), free_piece("setting", 3)});
  process.findings.verdicts = {leak(on_device(0), 1, 50)};
  process.findings.habits = {habit("habit", 9)};
  CHECK(ids_of(process) == "clear_list_1 setting habit large small costs ");
  const auto changes = run::changes_of(process);
  CHECK(changes[0].from == change_from::remedy);
  CHECK(changes[0].saves_bytes == 50 * mebibyte);
  CHECK(changes[0].saves_bytes_per_step == mebibyte);
  CHECK(changes[0].subject == "device:0");
  CHECK(changes[1].free);
  CHECK_FALSE(changes[3].free);
  CHECK(changes[5].saves_bytes == 0);
}

TEST_CASE("GIVEN pieces whose rank is not by bytes alone THEN they keep it beside a remedy") {
  // What was replayed before what was estimated and saves a little more.
  auto process = with({free_piece("setting", 96), free_piece("set_to_none", 100)});
  process.findings.verdicts = {leak(on_device(0), 1, 98)};
  CHECK(ids_of(process) == "setting set_to_none clear_list_1 ");
  // Also where one of the other group stands between them.
  process = with({piece("keeps_results", 10), free_piece("setting", 5), piece("changes_them", 20)});
  CHECK(ids_of(process) == "setting keeps_results changes_them ");
}

TEST_CASE("GIVEN a device that ran out of memory THEN what mends it comes first") {
  auto mends = piece("mends", 1);
  mends.mends_out_of_memory = true;
  auto process = with({mends, piece("large", 1000)});
  process.findings.verdicts = {leak(on_device(1), 1, 50), leak(on_device(0), 2, 40)};
  CHECK(ids_of(process) == "mends clear_list_1 clear_list_2 large ");
  auto& oom = process.ooms.emplace_back();
  oom.facts.device = 1;
  CHECK(ids_of(process) == "clear_list_1 mends clear_list_2 large ");
  oom.facts.caught = true;
  CHECK(ids_of(process) == "mends clear_list_1 clear_list_2 large ");
}

TEST_CASE("GIVEN a site that a device and a category tell of THEN it is one change") {
  run::process_report process;
  process.findings.verdicts = {leak({verdicts::subject_kind::category, 0, "outputs"}, 1, 90),
                               leak({verdicts::subject_kind::site, 0, "2"}, 2, 30),
                               leak(on_device(0), 1, 60)};
  const auto changes = run::changes_of(process);
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].subject == "device:0");
  CHECK(changes[0].saves_bytes == 60 * mebibyte);
  CHECK(changes[1].subject == "site:2");
}

TEST_CASE("GIVEN one cause of two lines THEN it is one change with their sum as evidence") {
  run::process_report process;
  process.verdict_frames[trace::stack_id{1}] = {{"/srv/ada/train.py", 88, "validate", true}};
  auto about = leak(on_device(0), 1, 750);
  auto& held_by = about.suspects.front().retained_by.emplace_back();
  held_by.path = "self.outputs[…]";
  held_by.container = "list";
  held_by.length = 240;
  held_by.owner = "local of fit";
  held_by.file = "/srv/ada/train.py";
  held_by.line = 80;
  held_by.holder = "Trainer";
  held_by.heap_scans = 4;
  about.suspects.front().stack = trace::stack_id{1};
  about.suspects.front().bytes_per_step = 3 * mebibyte;
  about.suspects.push_back(about.suspects.front());
  about.suspects.back().site = 2;
  about.suspects.back().bytes = 250 * mebibyte;
  about.suspects.back().bytes_per_step = mebibyte;
  process.findings.verdicts = {about};
  const auto changes = run::changes_of(process);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].saves_bytes == 1000 * mebibyte);
  CHECK(changes[0].saves_bytes_per_step == 4 * mebibyte);
  CHECK(changes[0].evidence ==
        "4,194,304 bytes a step from train.py:88 validate and 1 more line; kept by "
        "`self.outputs`, a list of 240 in Trainer, from fit (train.py:80), seen by 4 censuses");
  REQUIRE(changes[0].frames.size() == 1);
  CHECK(changes[0].frames[0].line == 88);
}

TEST_CASE("GIVEN several processes THEN theirs are one list, equal ones in their order") {
  auto first = with({piece("a30", 30), piece("a10", 10)});
  auto second = with({piece("b40", 40), piece("b30", 30), piece("b5", 5)});
  first.run.pid = 11;
  second.run.pid = 22;
  run::run_report processes = {first, second};
  for (auto& process : processes) process.changes = run::changes_of(process);
  std::string order;
  for (const auto* const one : run::ranked(processes)) {
    order += one->id + ' ' + std::to_string(one->pid) + ' ';
  }
  CHECK(order == "b40 22 a30 11 b30 22 a10 11 b5 22 ");
}
