// SPDX-License-Identifier: Apache-2.0
//
// Programs that look as if memory accumulated, and it does not.
#include <algorithm>
#include <deque>

#include "tests/unit/analyzer/judge/verdicts/made_up_program.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;
using growth::shape;

namespace {

constexpr int steps = 120;

void work(made_up_program& program) {
  program.stream(10, 8_MiB);
  program.stream(11, 1_MiB);
}

const std::vector<std::string> none;

}  // namespace

TEST_CASE("GIVEN a program that streams WHEN judged THEN it is steady, with its series") {
  made_up_program program;
  (void)program.alloc(5, 64_MiB);
  std::uint64_t batch = 0;
  for (int i = 0; i < steps; ++i) {
    batch = program.replace(batch, 9, 2_MiB);
    work(program);
    program.step();
  }
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(leaks_in(found) == none);
  CHECK(device.found.shape == shape::steady);
  CHECK(device.suspects.empty());
  CHECK_FALSE(device.steps_to_oom);
  CHECK(device.series.bytes.size() <= 64);
  CHECK(device.series.stride * device.series.bytes.size() >= steps);
}

TEST_CASE("GIVEN buffers, states and copies that are made once WHEN judged THEN all is quiet") {
  made_up_program program;
  (void)program.alloc(5, 64_MiB);
  std::deque<std::uint64_t> recent;
  std::uint64_t best = 0;
  for (int i = 0; i < steps; ++i) {
    work(program);
    if (i == 0) {  // Adam's two moments
      (void)program.alloc(60, 64_MiB);
      (void)program.alloc(61, 64_MiB);
    }
    if (i == 50) (void)program.alloc(62, 64_MiB);  // a copy of the weights
    if (i == 80) {                                 // layers unfrozen: gradients and moments
      for (std::uint64_t line = 63; line < 66; ++line) (void)program.alloc(line, 32_MiB);
    }
    recent.push_back(program.alloc(70, 1_MiB));  // a ring of twelve
    if (recent.size() > 12) {
      program.free(recent.front());
      recent.pop_front();
    }
    if (i == 3 || i == 7 || i == 20 || i == 55) {  // the best so far is replaced
      best = program.replace(best, 71, 16_MiB);
    }
    program.step();
  }
  CHECK(leaks_in(program.verdicts_on()) == none);
}

TEST_CASE("GIVEN a list that is cleared each tenth step WHEN judged THEN it fills and empties") {
  made_up_program program;
  (void)program.alloc(5, 64_MiB);
  std::vector<std::uint64_t> outputs;
  for (int i = 1; i <= steps; ++i) {
    work(program);
    outputs.push_back(program.alloc(20, 4_MiB));
    if (i % 10 == 0) {
      for (const auto output : outputs) program.free(output);
      outputs.clear();
    }
    program.step();
  }
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(leaks_in(found) == none);
  CHECK(device.found.shape == shape::sawtooth);
  CHECK(program.line_of(device.suspects.at(0)) == 20);
}

TEST_CASE("GIVEN batches of random sizes that are replaced WHEN judged THEN all is quiet") {
  made_up_program program;
  (void)program.alloc(5, 64_MiB);
  std::uint64_t batch = 0;
  std::uint64_t random = 1;
  for (int i = 0; i < steps; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;  // Knuth's MMIX
    batch = program.replace(batch, 9, (random >> 40) % 64 * 512_KiB + 512);
    work(program);
    program.step();
  }
  CHECK(leaks_in(program.verdicts_on()) == none);
}

TEST_CASE("GIVEN a table whose entries another line replaces WHEN judged THEN nothing leaks") {
  made_up_program program;
  std::vector<std::uint64_t> table;
  for (int i = 0; i < 14; ++i) {
    work(program);
    table.push_back(program.alloc(20, 1_MiB));
    program.step();
  }
  for (int i = 0; i < 10; ++i) {
    work(program);
    table[i] = program.replace(table[i], 21, 1_MiB);
    program.step();
  }
  CHECK(leaks_in(program.verdicts_on()) == none);
}

TEST_CASE("GIVEN a leak beside memory that varies WHEN judged THEN it is a leak still") {
  made_up_program program;
  std::uint64_t batch = 0;
  for (int i = 0; i < 40; ++i) {
    batch = program.replace(batch, 9, (1 + i * 7 % 5) * 2_MiB);
    work(program);
    (void)program.alloc(20, 1_MiB);
    program.step();
  }
  CHECK(leaks_in(program.verdicts_on()) != none);
}

TEST_CASE("GIVEN few steps WHEN judged THEN the verdict says how many more are needed") {
  made_up_program program;
  for (int i = 0; i < 8; ++i) {
    work(program);
    (void)program.alloc(20, 1_MiB);
    program.step();
  }
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(device.found.shape == shape::unknown);
  CHECK(device.found.more_steps_needed == 2);
  CHECK(device.summary.find("too few") != std::string::npos);
}

namespace {

// Thirteen sizes, one a step, and then the last one again.
[[nodiscard]] std::vector<std::string> leaks_of_larger_batches(int length) {
  made_up_program program;
  (void)program.alloc(5, 64_MiB);
  std::uint64_t batch = 0;
  for (int i = 0; i < length; ++i) {
    batch = program.replace(batch, 9, static_cast<std::uint64_t>(1 + std::min(i, 12)) * 1_MiB);
    work(program);
    program.step();
  }
  return leaks_in(program.verdicts_on());
}

}  // namespace

TEST_CASE("GIVEN batches that get larger WHEN they stay large for four steps THEN nothing leaks") {
  for (const int length : {16, 17, 18}) CHECK(leaks_of_larger_batches(length) == none);
}

TEST_CASE("GIVEN batches that get larger WHEN they have hardly stopped THEN nobody can tell yet") {
  for (const int length : {13, 14, 15}) CHECK(leaks_of_larger_batches(length) != none);
}

TEST_CASE("GIVEN a tensor that gets larger up to the end WHEN judged THEN it is a leak still") {
  made_up_program program;
  (void)program.alloc(5, 64_MiB);
  std::uint64_t bank = 0;
  for (int i = 0; i < 16; ++i) {
    bank = program.replace(bank, 9, static_cast<std::uint64_t>(1 + i) * 1_MiB);
    work(program);
    program.step();
  }
  CHECK(leaks_in(program.verdicts_on()) != none);
}

namespace {

// Hooks that are registered again in each step keep one output each, which each of two passes makes
// anew: in the one pass or the other, neither line holds anything.
void pass_through_hooks(made_up_program& program, int times) {
  (void)program.alloc(5, 64_MiB);
  std::vector<std::uint64_t> outputs;
  for (int i = 0; i < times; ++i) {
    outputs.push_back(0);
    for (const std::uint64_t line : {30, 31}) {
      for (auto& output : outputs) output = program.replace(output, line, 1_MiB);
      work(program);
    }
    program.step();
  }
}

}  // namespace

TEST_CASE(
    "GIVEN few steps that need ever more, at no call site for long WHEN judged THEN it is open") {
  made_up_program program;
  pass_through_hooks(program, 40);
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(leaks_in(found) == none);
  CHECK(device.found.shape == shape::unknown);
  CHECK(device.found.more_steps_needed == 60);
  CHECK_THAT(device.summary,
             Catch::Contains("1 MiB on average") && Catch::Contains("about 60 more steps"));
}

// A conversation that is read again from its start: nothing of a turn stays but its words.
TEST_CASE("GIVEN steps that work on ever more and give it back WHEN judged THEN it is open") {
  made_up_program program;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const auto used = program.alloc(7, (10 + step) * 1_MiB);
    program.free(used);
    program.step();
  }
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(leaks_in(found) == none);
  CHECK(device.found.shape == shape::unknown);
  CHECK(device.needs_more == Approx(1_MiB).epsilon(0.02));
  CHECK_THAT(device.summary, Catch::Contains("gives it back"));
}

TEST_CASE(
    "GIVEN many steps that need ever more, at no call site for long WHEN judged THEN it leaks") {
  made_up_program program;
  pass_through_hooks(program, steps);
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(device.found.shape == shape::accumulating);
  CHECK(device.bytes_per_step == Approx(1_MiB).epsilon(0.02));
  CHECK(device.suspects.empty());
}
