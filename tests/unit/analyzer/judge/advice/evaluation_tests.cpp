// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/blocks/passes.h"
#include "tests/unit/analyzer/judge/advice/made_up_run.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::tests;

namespace {

struct evaluated_training : made_up_run {
  trace::object_id net = module("", "Net");
  trace::object_id first = module("first", "Linear");
  trace::object_id second = module("second", "Linear");
  trace::object_id third = module("third", "Linear");
  trace::stack_id here = line("train.py", 5);
  std::uint32_t call = 0;

  void train(std::uint64_t bytes) {
    at = {phase::forward, first, here, ++call};
    const auto kept = keep(bytes);
    at.during = phase::backward;
    free(gradient_of(kept, "MulBackward0", category::temporaries, bytes / 2));
    free(kept);
    at = {phase::optimizer, {}, {}, 0};
    free(make(category::temporaries, mib));
    end_step();
  }
  // Three modules after one another; each result lives until the module after the next is done.
  block_number evaluate(std::uint64_t bytes, phase during, bool kept) {
    std::vector<block_number> results;
    ++call;
    for (const auto module : {first, second, third}) {
      at = {during, module, here, call};
      results.push_back(kept ? keep(bytes) : make(category::temporaries, bytes));
      if (!kept && results.size() > 1) free(results[results.size() - 2]);
    }
    const auto last = results.back();
    results.pop_back();
    if (kept) free(results);
    return last;
  }
};

}  // namespace

TEST_CASE("evaluation sets the peak: divided until training does") {
  evaluated_training run;
  run.train(20 * mib);
  run.free(run.evaluate(40 * mib, phase::evaluation, false));
  run.train(20 * mib);
  const auto all = advice::evaluation_batch(run.evidence());
  REQUIRE(all.size() == 1);
  CHECK(all[0].amount == "1/4");  // 80 against 30; 40 is still more
  CHECK(peak_of(run.log()) == 80 * mib);
  CHECK(peak_after(run, all[0]) == 30 * mib);
  CHECK(all[0].evidence.find("2 times") != std::string::npos);
}

// The first dimension is that of tensors that were found when memory ran out.
TEST_CASE("an evaluation's batch is not divided in more parts than it has samples") {
  struct expected {
    std::uint32_t samples;
    const char* amount;  // null: nothing is said
  };
  for (const auto& [samples, amount] :
       {expected{1, nullptr}, {2, "1/2"}, {3, "1/2"}, {64, "1/4"}}) {
    evaluated_training run;
    run.train(20 * mib);
    const auto result = run.evaluate(40 * mib, phase::evaluation, false);
    run[result].first = samples;
    run.free(result);
    run.train(20 * mib);
    const auto all = advice::evaluation_batch(run.evidence());
    CAPTURE(samples);
    REQUIRE(all.empty() == (amount == nullptr));
    if (amount != nullptr) CHECK(all[0].amount == amount);
  }
}

TEST_CASE("training sets the peak: the evaluation's batch is left alone") {
  evaluated_training run;
  run.train(200 * mib);
  run.free(run.evaluate(40 * mib, phase::evaluation, false));
  CHECK(advice::evaluation_batch(run.evidence()).empty());
}

TEST_CASE("forwards with gradients that no backward pass follows") {
  evaluated_training run;
  run.train(20 * mib);
  run.free(run.evaluate(40 * mib, phase::forward, true));
  run.train(20 * mib);
  const auto all = advice::evaluation_without_gradients(run.evidence());
  REQUIRE(all.size() == 1);
  CHECK(peak_of(run.log()) == 120 * mib);
  CHECK(peak_after(run, all[0]) == 80 * mib);  // what a module makes and what it uses
}

TEST_CASE("forwards that a backward pass follows are no evaluation") {
  evaluated_training run;
  run.train(20 * mib);
  run.train(20 * mib);
  CHECK(advice::evaluation_without_gradients(run.evidence()).empty());
}

TEST_CASE("memory runs out in a second forward: the first one's graph waits for nothing") {
  evaluated_training run;
  const auto fails_in_the_second = [&] {
    const auto before = run.keep(40 * mib);
    run.at = {phase::forward, run.first, run.here, ++run.call};
    const auto now = run.keep(40 * mib);
    run.refuse();
    run.free({before, now});
    const auto& of = run.evidence();
    return blocks::passes_of(of).without_backward;
  };
  SECTION("each backward pass was of one call") {
    run.train(20 * mib);
    run.train(20 * mib);
    run.at = {phase::forward, run.first, run.here, ++run.call};
    const auto first = run.call;
    const auto found = fails_in_the_second();
    REQUIRE(found.size() == 1);
    CHECK(found.begin()->first == first);
  }
  SECTION("a backward pass was of two calls, as of a loop over time") {
    run.at = {phase::forward, run.first, run.here, ++run.call};
    const auto earlier = run.keep(20 * mib);
    run.train(20 * mib);
    run.free(earlier);
    run.at = {phase::forward, run.first, run.here, ++run.call};
    CHECK(fails_in_the_second().empty());
  }
  SECTION("nothing was trained so far: a backward pass may be to come") {
    run.at = {phase::forward, run.first, run.here, ++run.call};
    CHECK(fails_in_the_second().empty());
  }
}

TEST_CASE("a graph that backward passes leave as it is was made for nothing") {
  made_up_run run;
  const auto model = run.module("", "Linear");
  const auto trained = run.line("train.py", 5);
  const auto shown = run.line("train.py", 9);
  const bool is_used_later = GENERATE(false, true);  // as a generator's, after the discriminator's
  std::uint32_t call = 0;
  block_number last = 0;
  for (unsigned step = 0; step < 3; ++step) {
    run.at = {phase::forward, model, trained, ++call};
    const auto kept = run.keep(40 * mib);
    run.at.during = phase::backward;
    const auto gradient = run.gradient_of(kept, "MmBackward0", category::temporaries, mib);
    run.free({gradient, kept});
    if (is_used_later && step != 0) {
      run.free({run.gradient_of(last, "MmBackward0", category::temporaries, mib), last});
    }
    run.at = {phase::optimizer, {}, {}, 0};
    run.free(run.make(category::temporaries, mib));
    run.at = {phase::forward, model, shown, ++call};
    const auto now = run.keep(40 * mib);
    if (!is_used_later && step != 0) run.free(last);
    last = now;
    run.at = {phase::other, {}, {}, 0};
    run.free(run.make(category::temporaries, 1024));
    run.end_step();
  }
  // The calls of train.py:9, the last one included.
  const auto found = blocks::passes_of(run.evidence()).without_backward;
  CHECK(found.size() == (is_used_later ? 0 : 3));
}

TEST_CASE("results that pile up go to the host call by call") {
  evaluated_training run;
  run.train(20 * mib);
  std::vector<block_number> results;
  for (unsigned i = 0; i < 10; ++i) {
    run.at = {phase::other, {}, run.line("train.py", 4), 0};
    run.free(run.make(category::temporaries, 1024));
    results.push_back(run.evaluate(10 * mib, phase::evaluation, false));
    run[results.back()].what = category::outputs;
  }
  run.at = {phase::other, {}, run.line("train.py", 8), 0};
  const auto joined = run.make(category::other, 100 * mib);
  run.free(results);
  run.free(joined);
  const auto all = advice::evaluation_outputs(run.evidence());
  REQUIRE(all.size() == 1);
  CHECK(peak_of(run.log()) == 200 * mib);
  // The last two results outlive too few turns to count: the last call needs 20, its own result
  // among them, beside the result before. What joins all is made on the host.
  CHECK(peak_after(run, all[0]) == 30 * mib);
}

TEST_CASE("results that are given back call by call are no finding") {
  evaluated_training run;
  for (unsigned i = 0; i < 10; ++i) run.free(run.evaluate(10 * mib, phase::evaluation, false));
  CHECK(advice::evaluation_outputs(run.evidence()).empty());
}
