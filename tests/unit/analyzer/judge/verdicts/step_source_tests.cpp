// SPDX-License-Identifier: Apache-2.0
//
// Whatever steps are known by, the same leak has the same rate.
#include "tests/unit/analyzer/judge/verdicts/made_up_program.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;
using growth::shape;

namespace {

void work(made_up_program& program) {
  for (std::uint64_t line = 10; line < 18; ++line) program.stream(line, line * 1_MiB);
}

}  // namespace

TEST_CASE("GIVEN two optimizers that take turns WHEN judged THEN a round is a step") {
  made_up_program program;
  for (int i = 0; i < 40; ++i) {
    work(program);
    program.step();
    work(program);
    (void)program.alloc(20, 1_MiB);
    program.second_step();
  }
  const auto found = program.verdicts_on();
  CHECK(about(found, "device:0").bytes_per_step == Approx(1_MiB));
  CHECK(about(found, "device:0").found.evidence.steps == 40);
}

TEST_CASE("GIVEN one optimizer after the other WHEN judged THEN no step is lost") {
  made_up_program program;
  for (int i = 0; i < 40; ++i) {
    work(program);
    (void)program.alloc(20, 1_MiB);
    i < 20 ? program.step() : program.second_step();
  }
  const auto found = program.verdicts_on();
  CHECK(about(found, "device:0").found.evidence.steps == 40);
  CHECK(about(found, "device:0").bytes_per_step == Approx(1_MiB));
}

TEST_CASE("GIVEN the program's own steps WHEN judged THEN they go before the optimizer's") {
  made_up_program program;
  for (int i = 0; i < 40; ++i) {
    for (int micro = 0; micro < 4; ++micro) {
      work(program);
      program.step();
    }
    (void)program.alloc(20, 1_MiB);
    program.user_step();
  }
  const auto found = program.verdicts_on();
  CHECK(about(found, "device:0").bytes_per_step == Approx(1_MiB));
}

TEST_CASE("GIVEN a server without steps WHEN its requests recur THEN they are its steps") {
  made_up_program program;
  (void)program.alloc(5, 64_MiB);
  for (int i = 0; i < 60; ++i) {
    work(program);
    (void)program.alloc(20, 1_MiB);
  }
  program.free_all();
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(device.found.shape == shape::accumulating);
  CHECK(device.unit == "step");
  CHECK(device.bytes_per_step == Approx(1_MiB));
  CHECK(program.line_of(device.suspects.at(0)) == 20);
}

TEST_CASE("GIVEN nothing that recurs WHEN judged THEN windows of events do") {
  made_up_program program;
  (void)program.alloc(5, 64_MiB);
  std::uint64_t random = 1;
  const auto below = [&](std::uint64_t limit) {
    random = random * 6364136223846793005 + 1442695040888963407;  // Knuth's MMIX
    return (random >> 40) % limit;
  };
  for (int i = 0; i < 3'000; ++i) {
    program.stream(100 + below(400), (1 + below(64)) * 1_MiB);
    if (below(10) == 0) (void)program.alloc(20, 1_MiB);
  }
  program.free_all();
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(device.unit == "event window");
  CHECK(is_leak(device.found.shape));
  CHECK(program.line_of(device.suspects.at(0)) == 20);
}

TEST_CASE("GIVEN calls of a model and much after them WHEN nothing recurs THEN calls are judged") {
  made_up_program program;
  (void)program.alloc(5, 64_MiB);
  std::uint64_t random = 1;
  const auto below = [&](std::uint64_t limit) {
    random = random * 6364136223846793005 + 1442695040888963407;  // Knuth's MMIX
    return (random >> 40) % limit;
  };
  for (int call = 0; call < 40; ++call) {
    program.in_scope({.module = program.model(), .root = program.model()});
    (void)program.alloc(20, 64_KiB);
    program.in_scope({});
    program.stream(100 + below(400), 1_MiB);
  }
  for (int i = 0; i < 3'000; ++i) program.stream(500 + below(400), (1 + below(64)) * 1_KiB);
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(device.unit == "call");
  CHECK(device.found.shape == shape::accumulating);
  CHECK(device.bytes_per_step == Approx(64_KiB));
}

TEST_CASE("GIVEN hardly any events WHEN judged THEN nothing is claimed") {
  made_up_program program;
  for (int i = 0; i < 20; ++i) (void)program.alloc(20 + static_cast<std::uint64_t>(i), 1_MiB);
  const auto found = program.verdicts_on();
  CHECK(about(found, "device:0").found.shape == shape::unknown);
}

TEST_CASE("GIVEN an evaluation that frees nothing WHEN its calls are all that is THEN they count") {
  made_up_program program;
  (void)program.alloc(5, 64_MiB);
  const scope_numbers evaluates{.module = program.model(), .root = program.model()};
  program.in_scope(evaluates);
  for (int i = 0; i < 48; ++i) (void)program.alloc(20, 64_KiB);
  const auto found = program.verdicts_on();
  const auto& device = about(found, "device:0");
  CHECK(device.found.shape == shape::accumulating);
  CHECK(device.unit == "call");
  CHECK(device.bytes_per_step == Approx(64_KiB));
  CHECK(program.line_of(device.suspects.at(0)) == 20);
}

TEST_CASE("GIVEN a forward pass that records gradients THEN its layers are no calls") {
  made_up_program program;
  (void)program.alloc(5, 64_MiB);
  program.in_scope(
      {.flags = format::scope_grad, .module = program.model(), .root = program.model()});
  for (int i = 0; i < 48; ++i) (void)program.alloc(20, 64_KiB);
  CHECK(about(program.verdicts_on(), "device:0").found.shape == shape::unknown);
}

TEST_CASE(
    "GIVEN an agent that moves often and learns rarely WHEN steps are too few THEN moves count") {
  const auto keeps_in_each_move = [](int moves_a_step) {
    made_up_program program;
    (void)program.alloc(5, 64_MiB);
    for (int move = 1; move <= 40; ++move) {
      program.in_scope({.module = program.model(), .root = program.model()});
      (void)program.alloc(20, 64_KiB);
      program.in_scope({});
      program.stream(10, 1_MiB);
      if (move % moves_a_step == 0) program.step();
    }
    return program.verdicts_on();
  };
  const auto eight_steps = keeps_in_each_move(5);
  const auto& device = about(eight_steps, "device:0");
  CHECK(device.found.shape == shape::accumulating);
  CHECK(device.unit == "call");
  CHECK(device.bytes_per_step == Approx(64_KiB));
  // The memory that an episode keeps may go at the end of its step.
  CHECK(about(keeps_in_each_move(20), "device:0").found.shape == shape::unknown);
  const auto twenty_steps = keeps_in_each_move(2);
  CHECK(about(twenty_steps, "device:0").unit == "step");
  CHECK(about(twenty_steps, "device:0").bytes_per_step == Approx(2 * 64_KiB));
}

TEST_CASE(
    "GIVEN features of one model WHEN another is trained on them THEN the first part is judged") {
  const auto features_first = [](bool first_comes_back) {
    made_up_program program;
    (void)program.alloc(5, 64_MiB);
    for (int picture = 0; picture < 40; ++picture) {
      program.in_scope({.module = program.model(), .root = program.model()});
      (void)program.alloc(20, 64_KiB);
      program.in_scope({});
      program.stream(10, 1_MiB);
    }
    const auto probe = program.second_model();
    for (int step = 0; step < 5; ++step) {
      program.in_scope({.module = probe, .root = probe});
      program.stream(30, 1_MiB);
      if (first_comes_back) {
        program.in_scope({.module = program.model(), .root = program.model()});
        program.stream(21, 1_MiB);
      }
      program.in_scope({});
      program.step();
    }
    return program.verdicts_on();
  };
  const auto apart = features_first(false);
  const auto& device = about(apart, "device:0");
  CHECK(device.found.shape == shape::accumulating);
  CHECK(device.unit == "call");
  CHECK(device.bytes_per_step == Approx(64_KiB));
  // The whole run is judged then, at whose end nothing has been added.
  CHECK_FALSE(is_leak(about(features_first(true), "device:0").found.shape));
}
