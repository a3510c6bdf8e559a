// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/judge/verdicts/made_up_program.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;
using growth::shape;

namespace {

// A model of 64 MiB, and steps that stream 8 MiB.
void build(made_up_program& program) {
  (void)program.alloc(5, 64_MiB);
}

void work(made_up_program& program) {
  program.stream(10, 8_MiB);
  program.stream(11, 1_MiB);
}

// Thirty calls of the model, whose outputs stay for now.
[[nodiscard]] std::vector<std::uint64_t> evaluate(made_up_program& program, std::uint64_t bytes) {
  std::vector<std::uint64_t> outputs;
  for (int call = 0; call < 30; ++call) {
    program.in_scope({0, program.model(), program.model(), 0, {}});
    outputs.push_back(program.alloc(40, bytes));
    program.in_scope({});
    program.stream(41, 1_MiB);
  }
  return outputs;
}

}  // namespace

TEST_CASE("GIVEN a block a step that stays WHEN judged THEN its line and its rate are found") {
  made_up_program program;
  build(program);
  for (int i = 0; i < 40; ++i) {
    work(program);
    (void)program.alloc(20, 1_MiB);
    program.step();
  }
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(device.found.shape == shape::accumulating);
  CHECK(device.bytes_per_step == Approx(1_MiB));
  CHECK_FALSE(device.found.negligible);
  REQUIRE(device.suspects.size() == 1);
  CHECK(program.line_of(device.suspects[0]) == 20);
  CHECK(device.suspects[0].share == Approx(1));
  CHECK(device.suspects[0].blocks == 40);
  CHECK(device.suspects[0].bytes == 40_MiB);
  // 16 GiB hold the model, 103 MiB in all at the last step's least, 9 MiB for a step's work.
  REQUIRE(device.steps_to_oom);
  CHECK(*device.steps_to_oom > 16 * 1024 - 64 - 40 - 12);
  CHECK(*device.steps_to_oom < 16 * 1024 - 64 - 40);
  CHECK(device.ns_to_oom);
  CHECK(about(found, "category:unknown").found.shape == shape::accumulating);
}

TEST_CASE("GIVEN all is freed at the end WHEN judged THEN the leak is still one") {
  made_up_program program;
  build(program);
  for (int i = 0; i < 40; ++i) {
    work(program);
    (void)program.alloc(20, 1_MiB);
    program.step();
  }
  program.free_all();
  const auto found = program.verdicts_on();
  CHECK(about(found, "device:0").found.shape == shape::accumulating);
  CHECK(about(found, "device:0").suspects.at(0).blocks == 40);
}

TEST_CASE("GIVEN a killed program WHEN judged THEN it gets its verdict") {
  made_up_program program;
  for (int i = 0; i < 40; ++i) {
    work(program);
    (void)program.alloc(20, 1_MiB);
    program.step();
  }
  work(program);
  const auto found = program.verdicts_on(true);
  CHECK(about(found, "device:0").bytes_per_step == Approx(1_MiB));
}

TEST_CASE("GIVEN an out-of-memory error WHEN judged THEN nothing is forecast") {
  made_up_program program;
  for (int i = 0; i < 32; ++i) {
    work(program);
    (void)program.alloc(20, 512_MiB - 16_KiB);
    program.step();
  }
  program.trace().oom(1_MiB, 512_MiB);
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(device.has_been_full);
  CHECK(!device.steps_to_oom);
  CHECK(device.summary.ends_with(" a step, until memory ran out"));
}

TEST_CASE("GIVEN 512 bytes a step among a thousand lines WHEN judged THEN they are found") {
  made_up_program program;
  build(program);
  std::uint64_t batch = 0;
  for (int i = 0; i < 60; ++i) {
    batch = program.replace(batch, 9, static_cast<std::uint64_t>(i * 7919 % 13 + 1) * 1_MiB);
    for (std::uint64_t line = 100; line < 1100; ++line) program.stream(line, line * 1_KiB);
    (void)program.alloc(20, 4);
    program.step();
  }
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(is_leak(device.found.shape));
  CHECK(device.bytes_per_step == Approx(512));
  CHECK(device.found.negligible);
  REQUIRE(device.suspects.size() == 1);
  CHECK(program.line_of(device.suspects[0]) == 20);
}

TEST_CASE("GIVEN two leaks of which one is larger WHEN ranked THEN the larger comes first") {
  made_up_program program;
  for (int i = 0; i < 40; ++i) {
    (void)program.alloc(20, 1_MiB);
    (void)program.alloc(30, 2_MiB);
    program.step();
  }
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  REQUIRE(device.suspects.size() == 2);
  CHECK(program.line_of(device.suspects[0]) == 30);
  CHECK(device.suspects[0].share == Approx(2.0 / 3));
  CHECK(device.bytes_per_step == Approx(3_MiB));
}

TEST_CASE("GIVEN a leak on another stream or device WHEN judged THEN it is found there") {
  made_up_program program;
  build(program);
  for (int i = 0; i < 40; ++i) {
    program.on_device(0);
    work(program);
    program.on_device(1);
    program.on_stream(7);
    (void)program.alloc(20, 1_MiB);
    program.on_stream(0);
    program.step();
  }
  const auto found = program.verdicts_on();
  CHECK(about(found, "device:0").found.shape == shape::steady);
  CHECK(about(found, "device:1").found.shape == shape::accumulating);
}

TEST_CASE("GIVEN memory that stays after each tenth step WHEN judged THEN it grows by jumps") {
  made_up_program program;
  build(program);
  for (int i = 1; i <= 120; ++i) {
    work(program);
    if (i % 10 == 0) (void)program.alloc(20, 10_MiB);
    program.step();
  }
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(device.found.shape == shape::stepwise);
  CHECK(device.bytes_per_step == Approx(1_MiB).epsilon(0.1));
  CHECK(program.line_of(device.suspects.at(0)) == 20);
}

TEST_CASE("GIVEN one tensor that gets larger WHEN judged THEN it is a leak") {
  made_up_program program;
  build(program);
  std::uint64_t memory = 0;
  for (std::uint64_t i = 1; i <= 60; ++i) {
    work(program);
    memory = program.replace(memory, 20, i * 64_KiB);
    program.step();
  }
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(device.found.shape == shape::accumulating);
  CHECK(device.bytes_per_step == Approx(64_KiB));
  CHECK(device.suspects.at(0).generations == 1);
}

TEST_CASE("GIVEN memory made in backward WHEN it stays THEN it is told by the forward line") {
  made_up_program program;
  const auto line = program.stack_of(20);
  for (int i = 0; i < 40; ++i) {
    program.in_scope({});
    (void)program.alloc(20, 1_MiB);
    program.in_scope(
        {format::scope_backward, program.model(), program.model(), line, "MulBackward0"});
    program.trace().record(format::kind::alloc,
                           0x7e0000000000 + static_cast<std::uint64_t>(i) * 2_MiB, 2_MiB, 0);
    program.in_scope({});
    program.step();
  }
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(device.bytes_per_step == Approx(3_MiB));
  // Apart from what the line itself makes: others may keep it.
  REQUIRE(device.suspects.size() == 2);
  CHECK(device.suspects[0].bytes_per_step == Approx(2_MiB));
  CHECK(device.suspects[1].bytes_per_step == Approx(1_MiB));
  for (const auto& one : device.suspects) CHECK(program.line_of(one) == 20);
}

TEST_CASE(
    "GIVEN a list that lives as long as an evaluation WHEN judged THEN the evaluation grows") {
  made_up_program program;
  build(program);
  for (int i = 1; i <= 60; ++i) {
    program.in_scope({});
    work(program);
    program.step();
    if (i % 20 != 0) continue;
    for (const auto output : evaluate(program, 2_MiB)) program.free(output);
  }
  const auto found = program.verdicts_on();
  CHECK_FALSE(is_leak(about(found, "device:0").found.shape));
  const auto& evaluation = about(found, "phase:evaluation");
  CHECK(evaluation.found.shape == shape::accumulating);
  CHECK(evaluation.unit == "call");
  CHECK(evaluation.bytes_per_step == Approx(2_MiB));
  CHECK(program.line_of(evaluation.suspects.at(0)) == 40);
  // 60 MiB of 16 GiB, which were gone when the next step ended.
  CHECK(evaluation.found.negligible);
  CHECK(answer_of(evaluation) == verdicts::answer::bounded);
  REQUIRE(evaluation.bound);
  CHECK(evaluation.bound->kind == program::bound_kind::episode);
  CHECK(evaluation.bound->line == 40);
}

TEST_CASE(
    "GIVEN an evaluation that takes a tenth of the GPU WHEN it is over THEN that is worth a word") {
  const auto judged = [](bool is_over) {
    made_up_program program;
    build(program);
    for (int i = 0; i < 30; ++i) {
      work(program);
      program.step();
      if (i % 10 != 0) continue;
      for (const auto output : evaluate(program, 60_MiB)) program.free(output);
    }
    if (!is_over) (void)evaluate(program, 60_MiB);
    return program.verdicts_on();
  };
  const auto over = about(judged(true), "phase:evaluation");
  CHECK(answer_of(over) == verdicts::answer::bounded);
  CHECK_FALSE(over.found.negligible);
  CHECK_FALSE(over.steps_to_oom);
  CHECK(over.summary.find("calls more would run out of memory") != std::string::npos);
  const auto running = about(judged(false), "phase:evaluation");
  CHECK(is_leak(running));
  REQUIRE(running.steps_to_oom);
  CHECK(*running.steps_to_oom < 300);
}

TEST_CASE(
    "GIVEN what evaluations gather is still there after them WHEN steps are too few to tell THEN "
    "that is a leak") {
  made_up_program program;
  build(program);
  for (int i = 0; i < 3; ++i) {
    work(program);
    program.step();
    (void)evaluate(program, 2_MiB);
  }
  const auto found = program.verdicts_on();
  CHECK(answer_of(about(found, "device:0")) == verdicts::answer::not_settled);
  CHECK(is_leak(about(found, "phase:evaluation")));
}

TEST_CASE("GIVEN a phase of a name in which memory grows WHEN judged THEN the phase is named") {
  made_up_program program;
  build(program);
  for (int round = 0; round < 2; ++round) {
    program.trace().phase(format::phase_action::begin, format::phase_source::user, 0, "adaptation");
    std::vector<std::uint64_t> kept;
    for (int i = 0; i < 30; ++i) {
      work(program);
      kept.push_back(program.alloc(50, 4_MiB));
      program.step();
    }
    program.trace().phase(format::phase_action::end, format::phase_source::user, 0, "adaptation");
    for (const auto block : kept) program.free(block);
    for (int i = 0; i < 30; ++i) {
      work(program);
      program.step();
    }
  }
  const auto found = program.verdicts_on();
  const auto& phase = about(found, "phase:adaptation");
  CHECK(phase.found.shape == shape::accumulating);
  CHECK(phase.bytes_per_step == Approx(4_MiB));
  CHECK(answer_of(phase) == verdicts::answer::bounded);
}
