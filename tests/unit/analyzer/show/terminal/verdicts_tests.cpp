// SPDX-License-Identifier: Apache-2.0
//
// The lines that a person reads first, from findings made by hand.
#include "analyzer/show/terminal/parts.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using growth::shape;

namespace {

constexpr double mebibyte = 1u << 20;

// 24 MiB a step that a list in a trainer keeps, of two lines.
[[nodiscard]] run::process_report leaking() {
  run::process_report made;
  made.verdict_frames[trace::stack_id{1}] = {{"/srv/ada/train.py", 88, "validate", true}};
  auto& about = made.findings.verdicts.emplace_back();
  about.found.shape = shape::accumulating;
  about.bytes_per_step = 24 * mebibyte;
  about.steps_to_oom = 830;
  about.ns_to_oom = 242'000'000'000;
  for (const double share : {0.75, 0.25}) {
    auto& who = about.suspects.emplace_back();
    who.site = static_cast<std::uint32_t>(about.suspects.size());
    who.stack = trace::stack_id{1};
    who.what = attribution::category::outputs;
    who.share = share;
    who.bytes = static_cast<std::uint64_t>(share * 1000 * mebibyte);
    who.bytes_per_step = share * 24 * mebibyte;
    auto& held_by = who.retained_by.emplace_back();
    held_by.path = "self.outputs[…]";
    held_by.container = "list";
    held_by.length = 240;
    held_by.owner = "local of fit";
    held_by.file = "/srv/ada/train.py";
    held_by.line = 80;
    held_by.holder = "Trainer";
    held_by.heap_scans = 4;
    held_by.bytes = who.bytes;
    who.fix = verdicts::remedy{"evaluation_results", "It keeps them.", "Move them to the CPU.",
                               "Nothing else helps.", who.bytes_per_step};
  }
  return made;
}

[[nodiscard]] std::string told(const run::process_report& process, std::size_t room = 12,
                               std::size_t columns = 96) {
  text::page out;
  run::device_report device;
  terminal::add_growth(out, process, device, room, columns);
  return out.render(false, 0);
}

[[nodiscard]] std::string calm_line(const run::process_report& process) {
  return text::join(terminal::calm_lines(process, 0, 200), "\n");
}

}  // namespace

TEST_CASE("GIVEN a leak THEN rate, time left, line, keeper and remedy are told in this order") {
  CHECK(told(leaking()) ==
        "GPU 0 accumulates 24 MiB a step: out of memory in about 830 steps (4 min 2 s)\n"
        "  where: 100 % train.py:88 validate and 1 more line\n"
        "  kept by: `self.outputs`, a list of 240 in Trainer, from fit (train.py:80)\n"
        "  write instead: Move them to the CPU.\n"
        "  note: Nothing else helps.\n");
  CHECK(terminal::calm_lines(leaking(), 0, 100).empty());
  CHECK(terminal::growth_in_brief(leaking(), 0) == ", accumulates 24 MiB a step");
  CHECK(terminal::growth_in_brief(leaking(), 1).empty());
}

TEST_CASE("GIVEN a run that ran out of memory THEN no steps are left") {
  auto process = leaking();
  for (auto& one : process.findings.verdicts) one.has_been_full = true;
  CHECK(told(process).starts_with("GPU 0 accumulates 24 MiB a step, until memory ran out\n"));
}

TEST_CASE("GIVEN little room THEN what matters most is told and long text is broken") {
  auto process = leaking();
  for (auto& who : process.findings.verdicts[0].suspects) {
    who.fix->change = "one two three four five six seven eight nine ten";
  }
  const auto text = told(process, 8, 40);
  CHECK(text.find("  write instead: one two three four five\n") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 8);
}

TEST_CASE("GIVEN a keeper that was seen early only THEN that is said") {
  auto process = leaking();
  for (auto& who : process.findings.verdicts[0].suspects) {
    who.retained_by[0].bytes = who.bytes / 10;
    who.retained_by[0].seen_at_step = 9;
  }
  CHECK(told(process, 12, 200).find("(last seen at step 9)") != std::string::npos);
}

TEST_CASE("GIVEN a device without growth THEN a line says how that is known") {
  run::process_report process;
  CHECK(terminal::calm_lines(process, 0, 100).empty());
  auto& about = process.findings.verdicts.emplace_back();
  about.found.shape = shape::steady;
  about.found.evidence.steps = 1200;
  CHECK(calm_line(process) == "  growth         none: steady over 1,200 steps");
  about.found.shape = shape::unknown;
  about.found.evidence.steps = 8;
  about.found.more_steps_needed = 12;
  CHECK(calm_line(process) ==
        "  growth         8 steps are too few to tell; about 12 more would do");
  about.found.evidence.steps = 0;
  CHECK(calm_line(process).find("no steps") != std::string::npos);
}

TEST_CASE("GIVEN growth within a phase THEN the line on steps does not contradict it") {
  run::process_report process;
  auto& steps = process.findings.verdicts.emplace_back();
  steps.found.shape = shape::steady;
  steps.found.evidence.steps = 1200;
  const auto alone = calm_line(process);
  auto& phase = process.findings.verdicts.emplace_back();
  phase.about = {verdicts::subject_kind::phase, 0, "evaluation"};
  phase.found.shape = shape::accumulating;
  const auto beside = calm_line(process);
  CHECK(alone.find("none:") != std::string::npos);
  CHECK(beside.find("none:") == std::string::npos);
  CHECK(beside.find("from step to step") != std::string::npos);
  phase.about.device = 1;
  CHECK(calm_line(process) == alone);
}

TEST_CASE("GIVEN no step before memory ran out THEN nothing is said of growth") {
  run::process_report process;
  process.findings.verdicts.emplace_back();
  CHECK_FALSE(terminal::calm_lines(process, 0, 100).empty());
  process.ooms.emplace_back();
  CHECK(terminal::calm_lines(process, 0, 100).empty());
}

TEST_CASE("GIVEN negligible growth THEN its line and its keeper are told in one line") {
  auto process = leaking();
  auto& about = process.findings.verdicts.front();
  about.found.negligible = true;
  about.bytes_per_step = 512;
  const auto line = calm_line(process);
  CHECK(line.find("512 bytes a step: negligible (") != std::string::npos);
  CHECK(line.find("train.py:88 validate") != std::string::npos);
  CHECK(line.find("kept by `") != std::string::npos);
  CHECK(line.find('\n') == std::string::npos);
}

TEST_CASE("GIVEN a bound THEN the line that says so is told, and nothing is a warning") {
  auto process = leaking();
  auto& about = process.findings.verdicts.front();
  about.bound = program::bound{program::bound_kind::length, "/srv/ada/buffer.py", 13, "n < 50", 50};
  about.summary =
      "grows into `self.items`, which the program bounds at 50 (buffer.py:13, `n < 50`)";
  CHECK(verdicts::answer_of(about) == verdicts::answer::bounded);
  CHECK_FALSE(verdicts::is_leak(about));
  CHECK(told(process).empty());
  CHECK(calm_line(process) == "  growth         " + about.summary);
}

TEST_CASE("GIVEN what a phase gathers and gives back THEN it is a fact below the growth") {
  run::process_report process;
  auto& steps = process.findings.verdicts.emplace_back();
  steps.found.shape = shape::steady;
  steps.found.evidence.steps = 60;
  auto& phase = process.findings.verdicts.emplace_back();
  phase.about = {verdicts::subject_kind::phase, 0, "evaluation"};
  phase.found.shape = shape::accumulating;
  phase.found.negligible = true;
  phase.summary = "evaluation of 20 calls gathers 10 MiB on GPU 0 and gives it back";
  CHECK(told(process).empty());
  CHECK(calm_line(process) ==
        "  growth         none: steady over 60 steps\n                 " + phase.summary);
}

TEST_CASE("GIVEN host memory that grows THEN it is told which limit is reached") {
  run::process_report process;
  auto& about = process.findings.verdicts.emplace_back();
  about.about = {verdicts::subject_kind::host, 0, {}};
  about.found.shape = shape::accumulating;
  about.bytes_per_step = 2 * mebibyte;
  about.steps_to_oom = 400;
  about.limit = {"the machine's memory", 23ULL << 30};
  CHECK(told(process).find("Host memory accumulates 2 MiB a step: the machine's memory of "
                           "23 GiB is reached in about 400 steps") != std::string::npos);
}

TEST_CASE("GIVEN a habit THEN its cost is told") {
  run::process_report process;
  process.findings.habits.push_back({"empty_cache_often", "It does nothing", "20 calls, 3 s",
                                     "Leave it out.", 20, 3'000'000'000});
  CHECK(told(process) ==
        "It does nothing\n  cost: 20 calls, 3 s\n  write instead: Leave it out.\n");
}
