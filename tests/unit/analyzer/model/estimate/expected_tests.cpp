// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/estimate/expected.h"

#include <algorithm>
#include <limits>

#include "tests/unit/catch.h"

using namespace memtrace::estimate;

namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

// 100 MiB of trained weights in 32 bits and 20 MiB of frozen ones in 16, AdamW.
measured_run usual_run() {
  measured_run run;
  run.parameters = {{60 * mebibyte, 4, true}, {40 * mebibyte, 4, true}, {20 * mebibyte, 2, false}};
  run.optimizers = {"AdamW"};
  run.weights = 120 * mebibyte;
  run.gradients = 100 * mebibyte;
  run.optimizer_states = 200 * mebibyte;
  run.step_temporaries = 100 * mebibyte;
  run.peak = 600 * mebibyte;
  return run;
}

expected_term term_of(const measured_run& run, std::string_view id) {
  const auto all = expect(run);
  const auto found =
      std::find_if(all.begin(), all.end(), [id](const expected_term& one) { return one.id == id; });
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("A run that is as it should be is off in no term") {
  const auto run = usual_run();
  CHECK(term_of(run, "weights").expected == 120 * mebibyte);
  CHECK(term_of(run, "gradients").expected == 100 * mebibyte);
  CHECK(term_of(run, "optimizer_states").expected == 200 * mebibyte);
  CHECK(term_of(run, "optimizer_temporaries").expected == 100 * mebibyte);
  for (const auto& one : expect(run)) {
    INFO(one.id);
    CHECK_FALSE(is_off(one, run.peak));
  }
}

TEST_CASE("A copy of the weights is off, and is named") {
  auto run = usual_run();
  run.weights += 100 * mebibyte;
  run.unused_copies = 100 * mebibyte;
  const auto weights = term_of(run, "weights");
  CHECK(is_off(weights, run.peak));
  CHECK(weights.note.find("100 MiB") != std::string::npos);
}

TEST_CASE("Gradients in buckets and beside them are off") {
  auto run = usual_run();
  run.gradients = 200 * mebibyte;
  CHECK(is_off(term_of(run, "gradients"), run.peak));
}

TEST_CASE("What is little of the peak is not off, however far from what was expected") {
  auto run = usual_run();
  run.workspace = 25 * mebibyte;
  const auto workspace = term_of(run, "workspace");
  CHECK(workspace.expected == 2 * 8320 * std::uint64_t{1024});
  CHECK(is_off(workspace, run.peak));
  CHECK_FALSE(is_off(workspace, 1000 * mebibyte));
}

TEST_CASE("Optimizers have the states of their class") {
  auto run = usual_run();
  run.optimizers = {"SGD"};
  run.optimizer_states = 0;
  CHECK(term_of(run, "optimizer_states").expected == 0);
  run.optimizer_states = 100 * mebibyte;
  CHECK(term_of(run, "optimizer_states").expected == 100 * mebibyte);
  run.optimizers = {"AdamW8bit"};
  // 25 Mi elements of two bytes, and 4 for each 256 of each.
  CHECK(term_of(run, "optimizer_states").expected == 25 * mebibyte * 2 * 260 / 256);
  for (const auto& unknown : {std::vector<std::string>{"Shampoo"}, {"AdamW", "SGD"}}) {
    run.optimizers = unknown;
    CHECK_FALSE(term_of(run, "optimizer_states").expected);
    CHECK_FALSE(term_of(run, "optimizer_states").note.empty());
  }
}

TEST_CASE("Sizes that no run has give figures, and no failure") {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  auto run = usual_run();
  run.parameters = {{most, 0, true}, {most, 1, true}};
  run.optimizers = {"AdamW8bit"};
  run.weights = run.gradients = run.optimizer_states = most;
  run.expected_activations = most;
  for (const auto& one : expect(run)) static_cast<void>(is_off(one, 0));
  CHECK(expect({}).size() == 3);  // activations, workspace, cached
}
