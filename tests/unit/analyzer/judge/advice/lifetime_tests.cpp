// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/pieces.h"
#include "tests/unit/analyzer/judge/advice/made_up_run.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::tests;

namespace {

constexpr const char* training_text =
    "def main():\n"
    "    for batch in batches:\n"
    "        optimizer.zero_grad()\n"
    "        # all of it\n"
    "        logits = net(batch)\n"
    "        loss = criterion(logits)\n"
    "        loss.backward()\n"
    "        optimizer.step()\n";

// Logits of 30 that backward does not need are freed where `release` says; backward needs 50 more
// than the forward.
enum class release { before_backward, after_backward, in_next_step };

struct logits_training : made_up_run {
  explicit logits_training(release when, const std::string& rest = "") {
    source("train.py", training_text + rest);
    const auto net = module("", "Net");
    const auto model_line = line("train.py", 5);
    std::vector<block_number> held;
    for (std::uint32_t step = 0; step < 4; ++step) {
      at = {phase::forward, net, model_line, step + 1};
      const auto kept = keep(100 * mib);
      const auto logits = make(category::outputs, 30 * mib);
      free(held);
      held.clear();
      if (when == release::before_backward) free(logits);
      at.during = phase::backward;
      free(gradient_of(kept, "MulBackward0", category::temporaries, 50 * mib));
      free(kept);
      if (when == release::after_backward) free(logits);
      if (when == release::in_next_step) held.push_back(logits);
      at = {phase::optimizer, {}, {}, 0};
      free(make(category::temporaries, mib));
      end_step();
    }
  }
};

}  // namespace

TEST_CASE("what backward does not need is freed before it") {
  logits_training run(release::after_backward);
  const auto all = advice::free_earlier(run.evidence());
  REQUIRE(all.size() == 1);
  CHECK(all[0].change == "`del logits` before backward() in line 7 (30 MiB at train.py:5 main)");
  CHECK(peak_of(run.log()) == 180 * mib);
  CHECK(peak_after(run, all[0]) == 150 * mib);
}

TEST_CASE("what is freed before backward is no finding") {
  logits_training run(release::before_backward);
  CHECK(advice::free_earlier(run.evidence()).empty());
}

TEST_CASE("what backward needs is no finding") {
  logits_training run(release::after_backward);
  auto of = run.evidence();
  of.blocks.change_all([](auto& facts) {
    if (facts.what == category::outputs) facts.kept_by_autograd = true;
  });
  CHECK(advice::free_earlier(of).empty());
}

TEST_CASE("what the program reads after backward is no finding before it") {
  logits_training run(release::after_backward, "        print(logits.argmax())\n");
  CHECK(advice::free_earlier(run.evidence()).empty());
}

TEST_CASE("results that the next step replaces live through its forward pass") {
  logits_training run(release::in_next_step);
  // Both logits at once, when the second step's are made; in backward there is one of them.
  CHECK(peak_of(run.log()) == 180 * mib);
  const auto all = advice::free_earlier(run.evidence());
  REQUIRE(all.size() == 1);
  CHECK(peak_after(run, all[0]) == 150 * mib);
}

TEST_CASE("results that the next step reads are no finding") {
  logits_training run(release::in_next_step, "        before = logits\n    return before\n");
  CHECK(advice::free_earlier(run.evidence()).empty());
}

TEST_CASE("without lines of the user's program nothing is proposed") {
  logits_training run(release::after_backward);
  auto of = run.evidence();
  of.blocks.change_all([](auto& facts) { facts.stack = {}; });
  CHECK(advice::free_earlier(of).empty());
}

TEST_CASE("a file's tensors beside the model that was made from them") {
  made_up_run run;
  const auto net = run.module("", "Net");
  run.at.during = phase::setup;
  run.weight("first", 8 * mib);
  run.weight("second", 4 * mib);
  const auto load = [&](const std::string& file, std::uint64_t bytes) {
    run.at = {phase::setup, {}, run.line(file, 1), 0};
    run.make(category::inputs, bytes);
    run.make(category::inputs, bytes / 2);
    run.at = {phase::forward, net, run.line("train.py", 5), 1};
    run.keep(16 * mib);
    return advice::weights_copy(run.evidence());
  };
  SECTION("they are as large as its parameters: a checkpoint") {
    const auto all = load("torch/serialization.py", 8 * mib);
    REQUIRE(all.size() == 1);
    CHECK(all[0].id == "loaded_checkpoint");
    CHECK(peak_of(run.log()) == 40 * mib);
    CHECK(peak_after(run, all[0]) == 28 * mib);
  }
  SECTION("they are not: a data set") {
    CHECK(load("torch/serialization.py", 6 * mib).empty());
  }
  SECTION("the program made them itself") {
    CHECK(load("train.py", 8 * mib).empty());
  }
}
