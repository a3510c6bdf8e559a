// SPDX-License-Identifier: Apache-2.0
//
// Two runs side by side: arguments by name, lines that moved, devices, configuration.
#include "analyzer/show/diff/diff.h"

#include <string>
#include <utility>
#include <vector>

#include "analyzer/run/model/load.h"
#include "analyzer/trace/code/moved_lines.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

constexpr std::uint64_t a = 0x7f0000000000;
namespace key = format::info_key;

[[nodiscard]] run::run_report loaded(const trace_builder& trace) {
  const auto bytes = trace.bytes();
  trace::memory_source source(std::as_bytes(std::span(bytes)));
  auto reader = trace::reader::open(source);
  return {run::load("run.mtrace", *reader)};
}

[[nodiscard]] std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found;
  std::string word;
  for (const char c : text + ' ') {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      found.push_back(std::exchange(word, {}));
    }
  }
  return found;
}

// "--batch: 8 > 16", one a line
[[nodiscard]] std::string changes(const std::string& before, const std::string& after) {
  std::string out;
  for (const auto& fact : diff::compare_commands(words(before), words(after))) {
    out += fact.name + ": " + fact.before + " > " + fact.after + "\n";
  }
  return out;
}

// A step allocates `transient` and frees it, and leaves `kept` behind.
[[nodiscard]] trace_builder steps_that_leave(std::uint64_t kept, int steps,
                                             std::uint64_t transient = 8_MiB) {
  trace_builder trace;
  trace.device(0, 24_GiB, 23_GiB, "GPU").context(0, trace.thread(1, "python"));
  auto at = a + 1_GiB;
  for (int i = 0; i < steps; ++i) {
    trace.alloc(a, transient);
    if (kept != 0) trace.alloc(at, kept);
    at += kept;
    trace.free(a);
    trace.step(format::step_source::user);
  }
  return trace;
}

}  // namespace

TEST_CASE("GIVEN two command lines WHEN compared THEN arguments go by their names") {
  CHECK(changes("python train.py --batch 8", "python train.py --batch 8").empty());
  CHECK(changes("python train.py --batch 8 --amp", "python train.py --amp --batch 16") ==
        "--batch: 8 > 16\n");
  CHECK(changes("python train.py --batch=8", "python train.py --batch 16") == "--batch: 8 > 16\n");
  CHECK(changes("python train.py data.batch=128 lr=-1e-3", "python train.py lr=-1e-3") ==
        "data.batch: 128 > \n");
  CHECK(changes("python train.py --lr -1e-3", "python train.py --lr 1e-3 --amp") ==
        "--lr: -1e-3 > 1e-3\n--amp:  > given\n");
}

TEST_CASE("GIVEN arguments without names WHEN compared THEN they go by their places") {
  CHECK(changes("python -u before.py", "python -u after.py") == "script: before.py > after.py\n");
  CHECK(changes("python train.py small", "python3 train.py large") ==
        "program: python > python3\nargument 2: small > large\n");
  CHECK(changes("python -m pkg.train", "python -m pkg.tune") == "-m: pkg.train > pkg.tune\n");
  CHECK(changes("python t.py --drop a --drop b", "python t.py --drop a --drop c") ==
        "--drop: a b > a c\n");
  CHECK(changes("", "python") == "program:  > python\n");
}

TEST_CASE("GIVEN code that was edited WHEN lines are paired THEN a function's lines go in order") {
  using pairs = std::vector<std::pair<std::string, std::string>>;
  const auto paired =
      code::pair_lines({"train.py:31 forward", "train.py:88 main", "train.py:9 old"},
                       {"train.py:31 forward", "train.py:101 main", "train.py:93 main"});
  CHECK(paired == pairs{{"train.py:31 forward", "train.py:31 forward"},
                        {"train.py:88 main", "train.py:93 main"},
                        {"", "train.py:101 main"},
                        {"train.py:9 old", ""}});
}

TEST_CASE("GIVEN runs with other settings WHEN compared THEN what differs is told") {
  auto old_trace = steps_that_leave(0, 3);
  auto new_trace = steps_that_leave(0, 3);
  old_trace.info(key::torch, "2.10.0").info(key::alloc_conf, "").info("env.OMP_NUM_THREADS", "4");
  new_trace.info(key::torch, "2.11.0")
      .info(key::alloc_conf, "expandable_segments:True")
      .info("env.CUDA_LAUNCH_BLOCKING", "");
  const auto before = loaded(old_trace);
  const auto after = loaded(new_trace);
  const auto found = diff::compare(before, after).configuration;
  const auto has = [&](const char* group, const char* name, const char* old_value,
                       const char* new_value) {
    return std::ranges::any_of(found, [&](const diff::changed_fact& fact) {
      return fact.group == group && fact.name == name && fact.before == old_value &&
             fact.after == new_value;
    });
  };
  CHECK(has("version", "PyTorch", "2.10.0", "2.11.0"));
  CHECK(has("allocator", "settings", "", "expandable_segments:True"));
  CHECK(has("environment", "OMP_NUM_THREADS", "4", ""));
  CHECK(has("environment", "CUDA_LAUNCH_BLOCKING", "", ""));
  CHECK(found.size() == 4);
}

TEST_CASE("GIVEN a run that keeps and one that does not WHEN compared THEN the curves say so") {
  const auto before = loaded(steps_that_leave(2_MiB, 100));
  const auto after = loaded(steps_that_leave(0, 50));
  const auto found = diff::compare(before, after);
  REQUIRE(found.devices.size() == 1);
  const auto& pair = found.devices.front();
  REQUIRE(pair.before);
  REQUIRE(pair.after);
  const auto& old_curve = pair.before->curve;
  CHECK(old_curve.steps == 100);
  CHECK(old_curve.stride == 2);
  REQUIRE(old_curve.left.size() == 50);
  CHECK(old_curve.left.front() == 2_MiB);  // the lesser of two steps
  CHECK(old_curve.left.back() == 198_MiB);
  CHECK(old_curve.peak.back() == 208_MiB);  // the greater
  CHECK(pair.after->curve.left == std::vector<std::uint64_t>(50, 0));
  CHECK(pair.after->curve.peak == std::vector<std::uint64_t>(50, 8_MiB));
  REQUIRE(pair.verdicts.size() == 1);
  CHECK(pair.verdicts.front().before->found.shape == growth::shape::accumulating);
  CHECK_FALSE(growth::is_leak(pair.verdicts.front().after->found.shape));
  REQUIRE(pair.growing.size() == 1);
  CHECK(pair.growing.front().before == Approx(2_MiB));
  CHECK(pair.growing.front().after == 0);
  const auto text = diff::to_text(found, {});
  CHECK(text.find("step 0 … 99") != text.npos);
  CHECK(text.find("100 steps before, 50 after") != text.npos);
}

TEST_CASE("GIVEN other numbers of GPUs WHEN compared THEN those of the same rank go together") {
  auto two = steps_that_leave(0, 3, 4_MiB);
  two.device(1, 24_GiB, 23_GiB, "GPU").context(1, two.thread(2, "python"));
  two.alloc(a, 16_MiB).free(a);
  const auto before = loaded(two);
  const auto after = loaded(steps_that_leave(0, 3, 8_MiB));
  const auto found = diff::compare(before, after);
  REQUIRE(found.devices.size() == 2);
  REQUIRE(found.devices[0].after);
  CHECK(found.devices[0].before->device->peak_allocated.totals.allocated == 4_MiB);
  CHECK_FALSE(found.devices[1].after);
  CHECK(found.not_comparable.front() ==
        "2 GPUs before, 1 after: figures are those of one GPU each.");
}

TEST_CASE("GIVEN the same recording twice WHEN compared THEN nothing changed and it is said") {
  const auto run = loaded(steps_that_leave(1_MiB, 20));
  const auto found = diff::compare(run, run);
  CHECK(found.configuration.empty());
  CHECK(found.not_comparable == std::vector<std::string>{"Both are the same recording."});
  const auto& pair = found.devices.front();
  CHECK(pair.categories.empty());
  CHECK(pair.modules.empty());
  CHECK(pair.lines.empty());
}

TEST_CASE("GIVEN runs that fit no GPU memory WHEN compared THEN the text says so") {
  trace_builder nothing;
  const auto run = loaded(nothing);
  const auto text = diff::to_text(diff::compare(run, run), {});
  CHECK(text.find("Neither run allocated GPU memory") != text.npos);
}

TEST_CASE("GIVEN growth within evaluations WHEN compared THEN its lines and where it is are told") {
  auto before = loaded(steps_that_leave(0, 20));
  const auto after = loaded(steps_that_leave(0, 20));
  auto& process = before.front();
  process.verdict_frames[trace::stack_id{1}] = {{"/srv/ada/extract.py", 22, "remember", true}};
  auto& phase = process.findings.verdicts.emplace_back();
  phase.about = {verdicts::subject_kind::phase, 0, "evaluation"};
  phase.found.shape = growth::shape::accumulating;
  phase.bytes_per_step = 12.0 * 1_MiB;
  phase.unit = "call";
  auto& who = phase.suspects.emplace_back();
  who.stack = trace::stack_id{1};
  who.share = 1;
  who.bytes_per_step = phase.bytes_per_step;
  auto difference = diff::compare(before, after);
  const auto& growing = difference.devices.front().growing;
  REQUIRE(growing.size() == 1);
  CHECK(growing[0].name.find("extract.py:22") != std::string::npos);
  CHECK(growing[0].before == 12.0 * 1_MiB);
  CHECK(growing[0].after == 0);
  const auto text = diff::to_text(difference, {});
  CHECK(text.find("What accumulates, in bytes a step or call") != text.npos);
  CHECK(text.find("before: it grew within each evaluation, before or between the steps") !=
        text.npos);
  CHECK(text.find("after: it grew") == text.npos);
}

TEST_CASE("GIVEN negligible growth WHEN compared THEN it is no leak that runs out of memory") {
  auto run = loaded(steps_that_leave(512, 40));
  const auto other = loaded(steps_that_leave(0, 40));
  auto& about = run.front().findings.verdicts.front();
  REQUIRE(about.about.kind == verdicts::subject_kind::device);
  about.found.shape = growth::shape::accumulating;
  about.found.confidence = 0.85;
  about.found.negligible = true;
  about.steps_to_oom = 50'000'000;
  const auto text = diff::to_text(diff::compare(other, run), {});
  CHECK(text.find("negligible growth (85 %)") != text.npos);
  CHECK(text.find("out of memory in") == text.npos);
}
