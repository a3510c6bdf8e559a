// SPDX-License-Identifier: Apache-2.0
//
// What an expectation makes of verdicts: built by hand, and of a program whose trace has one.
#include <string>
#include <vector>

#include "analyzer/judge/verdicts/bounded_growth.h"
#include "memtrace/trace_format.h"
#include "tests/unit/analyzer/judge/verdicts/made_up_program.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;
using growth::shape;

namespace {

constexpr double mib = 1 << 20;

[[nodiscard]] verdicts::retainer kept_by(const char* path, double bytes_per_step) {
  verdicts::retainer made;
  made.path = path;
  made.bytes = 1 << 20;
  made.bytes_per_step = bytes_per_step;
  made.heap_scans = 3;
  return made;
}

[[nodiscard]] verdicts::suspect grows(double bytes_per_step, std::vector<verdicts::retainer> kept) {
  verdicts::suspect made;
  made.found.shape = shape::accumulating;
  made.bytes_per_step = bytes_per_step;
  made.retained_by = std::move(kept);
  return made;
}

[[nodiscard]] verdicts::findings of_device(std::vector<verdicts::suspect> suspects) {
  verdicts::findings made;
  auto& about = made.verdicts.emplace_back();
  about.found.shape = shape::accumulating;
  about.summary = "it grows";
  for (auto& one : suspects) about.bytes_per_step += one.bytes_per_step;
  for (auto& one : suspects) one.share = one.bytes_per_step / about.bytes_per_step;
  about.suspects = std::move(suspects);
  return made;
}

void expect(verdicts::findings& in, std::string what, std::string why = "why") {
  verdicts::used_expectation one;
  one.said.what = std::move(what);
  one.said.why = std::move(why);
  one.said.file = "/srv/ada/my.supp";
  one.said.line = 7;
  in.expectations.push_back(std::move(one));
}

[[nodiscard]] verdicts::bounded_growth without_an_end() {
  verdicts::bounded_growth made;
  made.settled = false;
  return made;
}

void mark(verdicts::findings& found) {
  verdicts::mark_expected(found, trace::dictionary());
}

}  // namespace

TEST_CASE("GIVEN growth that is expected THEN it is no alarm, and the answer is what it was") {
  auto found = of_device({grows(mib, {kept_by("history[…]", mib)})});
  expect(found, "history", "plotted at the end");
  mark(found);
  const auto& about = found.verdicts[0];
  CHECK(verdicts::is_expected(about));
  CHECK(verdicts::answer_of(about) == verdicts::answer::accumulates);
  CHECK(about.found.shape == shape::accumulating);
  CHECK(about.expected->why == "plotted at the end");
  CHECK(about.expected->line == 7);
  CHECK(about.expected->bytes_per_step == mib);
  CHECK(about.summary == "it grows; expected: plotted at the end (said at my.supp:7)");
  CHECK(found.expectations[0].verdicts == 1);
}

TEST_CASE(
    "GIVEN growth that nobody expects THEN nothing changes, and the rule has matched nothing") {
  auto found = of_device({grows(mib, {kept_by("other[…]", mib)})});
  expect(found, "history");
  mark(found);
  CHECK_FALSE(found.verdicts[0].expected);
  CHECK(found.verdicts[0].summary == "it grows");
  CHECK(found.expectations[0].verdicts == 0);
}

TEST_CASE("GIVEN a leak beside what is expected THEN it is an alarm, and comes first") {
  auto found = of_device(
      {grows(3 * mib, {kept_by("history[…]", mib)}), grows(mib, {kept_by("other[…]", mib)})});
  expect(found, "history");
  mark(found);
  const auto& about = found.verdicts[0];
  REQUIRE(about.expected);
  CHECK_FALSE(verdicts::is_expected(about));
  CHECK(about.expected->bytes_per_step == 3 * mib);
  CHECK(about.bytes_per_step == 4 * mib);
  REQUIRE(about.suspects.size() == 2);
  CHECK_FALSE(about.suspects[0].expected);
  CHECK(about.suspects[1].expected->is_all);
  CHECK(about.summary == "it grows; 3 MiB a step of it are expected: why (said at my.supp:7)");
}

TEST_CASE("GIVEN a negligible leak beside what is expected THEN it is no alarm") {
  auto found =
      of_device({grows(mib, {kept_by("history[…]", mib)}), grows(64, {kept_by("losses[…]", 64)})});
  expect(found, "history");
  mark(found);
  CHECK(verdicts::is_expected(found.verdicts[0]));
}

TEST_CASE("GIVEN a leak that was too small to be named THEN it is named now") {
  auto found = of_device({grows(9 * mib, {kept_by("history[…]", mib)})});
  auto& about = found.verdicts[0];
  about.unnamed.push_back(grows(mib, {kept_by("other[…]", mib)}));
  about.unnamed.push_back(grows(mib / 2, {kept_by("history[…].grad_fn", mib)}));
  expect(found, "history");
  mark(found);
  CHECK_FALSE(verdicts::is_expected(about));
  REQUIRE(about.suspects.size() == 3);
  CHECK(about.suspects[0].retained_by[0].path == "other[…]");
  CHECK(about.expected->bytes_per_step == 9.5 * mib);
}

TEST_CASE("GIVEN many lines of one graph THEN those that are not named are expected, too") {
  auto found = of_device({grows(9 * mib, {kept_by("history[…]", mib)})});
  found.verdicts[0].unnamed.push_back(grows(mib, {kept_by("history[…].grad_fn", mib)}));
  expect(found, "history");
  mark(found);
  CHECK(verdicts::is_expected(found.verdicts[0]));
  CHECK(found.verdicts[0].expected->bytes_per_step == 10 * mib);
}

TEST_CASE("GIVEN a line whose memory lies in two containers THEN one alone expects its own share") {
  auto found =
      of_device({grows(4 * mib, {kept_by("other[…]", 3 * mib), kept_by("history[…]", mib)})});
  expect(found, "history");
  mark(found);
  const auto& about = found.verdicts[0];
  CHECK_FALSE(verdicts::is_expected(about));
  CHECK(about.expected->bytes_per_step == mib);
  CHECK_FALSE(about.suspects[0].expected->is_all);
  auto both =
      of_device({grows(4 * mib, {kept_by("other[…]", 3 * mib), kept_by("history[…]", mib)})});
  expect(both, "history", "plotted");
  expect(both, "other", "the larger part");
  mark(both);
  CHECK(verdicts::is_expected(both.verdicts[0]));
  CHECK(both.verdicts[0].expected->why == "the larger part");
  CHECK(both.expectations[0].verdicts == 1);
}

TEST_CASE("GIVEN a variable that does not grow beside a container THEN it takes no share") {
  auto found = of_device({grows(mib, {kept_by("history[…]", mib), kept_by("batch", 0)})});
  expect(found, "history");
  mark(found);
  CHECK(verdicts::is_expected(found.verdicts[0]));
}

TEST_CASE("GIVEN a container that was seen once THEN its bytes tell its share") {
  auto once = kept_by("history[…]", 0);
  auto other = kept_by("other[…]", 0);
  other.bytes = once.bytes / 20;
  auto found = of_device({grows(mib, {once, other})});
  expect(found, "history");
  mark(found);
  CHECK(verdicts::is_expected(found.verdicts[0]));
}

TEST_CASE("GIVEN what nobody is known to keep THEN no path expects it") {
  auto found = of_device({grows(mib, {})});
  expect(found, "*");
  mark(found);
  CHECK_FALSE(found.verdicts[0].expected);
}

TEST_CASE("GIVEN a buffer that fills beside what is expected THEN what is left is no leak") {
  auto found = of_device({grows(mib, {kept_by("history[…]", mib)}), grows(mib, {})});
  found.verdicts[0].suspects[1].fills = verdicts::bounded_growth{};
  expect(found, "history");
  mark(found);
  CHECK(verdicts::is_expected(found.verdicts[0]));
  // Nobody knows yet whether it ends.
  auto open = of_device({grows(mib, {kept_by("history[…]", mib)}), grows(mib, {})});
  open.verdicts[0].suspects[1].fills = without_an_end();
  expect(open, "history");
  mark(open);
  CHECK_FALSE(verdicts::is_expected(open.verdicts[0]));
}

TEST_CASE("GIVEN growth of which nobody knows whether it ends THEN it may be expected") {
  auto found = of_device({grows(mib, {kept_by("history[…]", mib)})});
  auto& about = found.verdicts[0];
  about.found.shape = about.suspects[0].found.shape = shape::unknown;
  about.suspects[0].fills = without_an_end();
  expect(found, "history");
  mark(found);
  CHECK(verdicts::is_expected(about));
  CHECK(verdicts::answer_of(about) == verdicts::answer::not_settled);
}

TEST_CASE("GIVEN what does not grow, or is bounded, THEN there is nothing to expect") {
  for (const auto calm : {shape::steady, shape::warmup_plateau, shape::sawtooth, shape::unknown}) {
    auto found = of_device({grows(mib, {kept_by("history[…]", mib)})});
    found.verdicts[0].found.shape = calm;
    expect(found, "history");
    mark(found);
    CHECK_FALSE(found.verdicts[0].expected);
    CHECK(found.expectations[0].verdicts == 0);
  }
}

TEST_CASE("GIVEN growth of the host THEN it goes by its subject") {
  verdicts::findings found;
  auto& about = found.verdicts.emplace_back();
  about.about.kind = verdicts::subject_kind::host;
  about.found.shape = shape::accumulating;
  about.bytes_per_step = mib;
  expect(found, "host", "the page cache");
  mark(found);
  CHECK(verdicts::is_expected(about));
  // A device's own verdict names lines: its subject alone would be everything.
  auto device = of_device({grows(mib, {kept_by("history[…]", mib)})});
  expect(device, "device:0");
  mark(device);
  CHECK_FALSE(device.verdicts[0].expected);
}

TEST_CASE("GIVEN verdicts that were marked WHEN others come THEN only those are looked at") {
  auto found = of_device({grows(mib, {kept_by("history[…]", mib)})});
  expect(found, "history");
  mark(found);
  const auto said = found.verdicts[0].summary;
  mark(found);
  CHECK(found.verdicts[0].summary == said);
  CHECK(found.expectations[0].verdicts == 1);
}

namespace {

constexpr std::uint64_t held_line = 31, other_line = 47;

// Keeps a tensor of 1 MiB at each of 120 steps in `self.history`, of which two heap scans know.
void train(made_up_program& program, bool leaks_elsewhere) {
  std::vector<std::uint64_t> kept;
  for (unsigned step = 0; step < 120; ++step) {
    program.stream(9, 4 << 20);
    kept.push_back(program.alloc(held_line, 1 << 20));
    if (leaks_elsewhere) (void)program.alloc(other_line, 256 << 10);
    program.step();
    if (step % 30 != 29) continue;
    auto& trace = program.trace();
    trace.census(format::census_action::begin, format::census_reason::step);
    const auto detail = "list\x1f" + std::to_string(kept.size()) +
                        "\x1flocal of fit\x1f/srv/ada/train.py\x1f"
                        "12\x1fTrainer\x1f\x1f" +
                        std::to_string(kept.size()) + "\x1fTrainer";
    for (const auto address : kept) {
      trace.storage(format::storage_role::held, address, {1 << 20, "self.history[…]", detail});
    }
    trace.census(format::census_action::end, format::census_reason::step);
  }
}

[[nodiscard]] verdicts::findings judged(made_up_program& program, const char* rule = nullptr) {
  run::load_options how;
  if (rule != nullptr) {
    verdicts::expectation said;
    said.what = rule;
    said.file = "my.supp";
    said.line = 1;
    how.suppressions.push_back(said);
  }
  return program.verdicts_on(false, how);
}

}  // namespace

TEST_CASE("GIVEN a trace in which the program expects it THEN device, line and category are") {
  made_up_program program;
  // Said in its own __init__: the attribute of its class.
  program.trace().expectation(
      "self.history", "plotted", "/srv/ada/train.py", 14,
      {format::expectation_object, "local of __init__", "/srv/ada/train.py", 13, "Trainer"});
  train(program, false);
  const auto found = judged(program);
  CHECK(leaks_in(found).size() >= 2);
  for (const auto& one : found.verdicts) {
    if (!growth::is_leak(one.found.shape)) continue;
    CAPTURE(verdicts::name_of(one.about));
    CHECK(verdicts::is_expected(one));
    REQUIRE(one.expected);
    CHECK(one.expected->by == verdicts::said_by::program);
    CHECK(one.expected->line == 14);
    // What to change there is nobody's question.
    for (const auto& who : one.suspects) CHECK_FALSE(who.fix);
  }
  CHECK(verdicts::answer_of(about(found, "device:0")) == verdicts::answer::accumulates);
  CHECK(about(found, "device:0").steps_to_oom);
}

TEST_CASE("GIVEN a trace with another leak, too, THEN that one is the alarm") {
  made_up_program program;
  program.trace().expectation("Trainer.history", "plotted", "/srv/ada/train.py", 14);
  train(program, true);
  const auto found = judged(program);
  const auto& device = about(found, "device:0");
  REQUIRE(device.expected);
  CHECK_FALSE(verdicts::is_expected(device));
  CHECK(device.expected->bytes_per_step == 1 << 20);
  CHECK(program.line_of(device.suspects.front()) == other_line);
}

TEST_CASE("GIVEN a suppression of the other leak's line THEN nothing is left") {
  made_up_program program;
  program.trace().expectation("Trainer.history", "plotted", "/srv/ada/train.py", 14);
  train(program, true);
  const auto found = judged(program, "train.py:47");
  CHECK(verdicts::is_expected(about(found, "device:0")));
  REQUIRE(found.expectations.size() == 2);
  CHECK(found.expectations[0].verdicts > 0);
  CHECK(found.expectations[1].verdicts > 0);
}

TEST_CASE("GIVEN an object that no name led to THEN it expects nothing") {
  made_up_program program;
  program.trace().expectation("list", "who knows", "/srv/ada/train.py", 14,
                              {format::expectation_object | format::expectation_nameless});
  train(program, false);
  const auto found = judged(program);
  CHECK_FALSE(about(found, "device:0").expected);
  REQUIRE(found.expectations.size() == 1);
  CHECK(found.expectations[0].said.what == "list");
  CHECK(found.expectations[0].verdicts == 0);
}
