// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/advice/pieces.h"
#include "tests/unit/analyzer/judge/advice/made_up_run.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::tests;

namespace {

// A linear layer of 8 MiB that keeps 100 MiB for backward; each step makes its gradient anew.
//   forward   input 40, kept 100        backward  gradient of the activation 60, then of the weight
class linear_training : public made_up_run {
 public:
  explicit linear_training(unsigned steps, bool gradients_stay = false) {
    layer_ = module("", "Linear");
    at.during = phase::setup;
    weight("weight", 8 * mib);
    for (unsigned i = 0; i < steps; ++i) step(gradients_stay);
  }

  block_number last_kept = 0;
  block_number last_sum = 0;

 private:
  void step(bool gradients_stay) {
    at = {phase::other, {}, line("train.py", 10), 0};
    const auto input = make(category::inputs, 40 * mib);
    at = {phase::forward, layer_, line("train.py", 11), ++call_};
    last_kept = keep(100 * mib);
    at = {phase::backward, layer_, {}, 0};
    const auto scratch = gradient_of(last_kept, "MmBackward0", category::temporaries, 60 * mib);
    if (gradients_stay && gradient_ != none) {
      last_sum = gradient_of(last_kept, "MmBackward0", category::temporaries, 8 * mib);
      free(last_sum);
    } else {
      gradient_ = gradient_of(last_kept, "MmBackward0", category::gradients, 8 * mib);
    }
    free({last_kept, scratch});
    at = {phase::optimizer, {}, {}, 0};
    free(make(category::temporaries, 8 * mib));
    end_step();
    if (!gradients_stay) free(gradient_);
    free(input);
  }

  static constexpr block_number none = 0xffffffff;
  trace::object_id layer_;
  std::uint32_t call_ = 0;
  block_number gradient_ = none;
};

const advice::proposal& named(const advice::proposals& all, const std::string& id) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.id == id; });
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("with the batch grow activations, inputs and scratch memory, but no gradients") {
  linear_training run(2);
  const auto& of = run.evidence();
  const auto scales =
      advice::scales_with_batch(of, blocks::passes_of(of), blocks::activity::training);
  for (block_number block = 0; block < scales.size(); ++block) {
    const auto what = of.blocks[block].what;
    const bool computed = what == category::activations || what == category::inputs;
    const bool scratch =
        what == category::temporaries && of.blocks[block].born_in == phase::backward;
    CHECK(scales[block] == (computed || scratch));
  }
}

TEST_CASE("what backward adds to an existing gradient is as large as the parameter") {
  linear_training run(3, true);
  const auto& of = run.evidence();
  const auto like = advice::shaped_like_parameters(of);
  CHECK(std::count(like.begin(), like.end(), true) == 2);
  CHECK(like[run.last_sum]);
}

TEST_CASE("half the batch: gradients of the micro-batch before are there from the forward on") {
  linear_training run(3);
  const auto all = advice::train_batch(run.evidence());
  REQUIRE(all.size() == 2);
  // Now: weight 8, input 40, kept 100, scratch 60, gradient 8. Then: what scales in half, and the
  // gradient that was there beside the one that is added to it.
  CHECK(peak_of(run.log()) == 216 * mib);
  CHECK(peak_after(run, all[0]) == (8 + 20 + 50 + 30 + 8 + 8) * mib);
  CHECK(peak_after(run, all[1]) == (8 + 10 + 25 + 15 + 8 + 8) * mib);
  CHECK(all[0].group == all[1].group);
  CHECK(all[0].amount == "1/2");
}

TEST_CASE("what is computed of pairs of its rows is no batch to divide") {
  linear_training run(2);
  auto of = run.evidence();
  const auto shape = [&](std::uint32_t rows, std::uint32_t columns) {
    of.blocks.change_all([&](auto& facts) {
      if (!facts.kept_by_autograd) return;
      facts.dimensions = 3;
      facts.rows = facts.columns = 1024;
    });
    // (rows, width), of the module that is computed before.
    auto small = of.blocks[run.last_kept];
    small.dimensions = 2;
    small.rows = rows;
    small.columns = columns;
    std::vector<blocks::block_facts> all(of.blocks.begin(), of.blocks.end());
    all[run.last_kept] = small;
    of.blocks = blocks::fact_list(all);
    return advice::most_parts_of_batch(of, blocks::passes_of(of), blocks::activity::training) == 1;
  };
  SECTION("(heads, nodes, nodes) beside (nodes, width): a graph") {
    CHECK(shape(1024, 64));
  }
  SECTION("(samples x heads, places, places) beside (samples x places, width): sequences") {
    CHECK_FALSE(shape(8 * 1024, 64));
  }
  SECTION("(samples, places, places) beside a mask of places: sequences") {
    CHECK_FALSE(shape(1024, 1024));
  }
}

TEST_CASE("a product of (rows, rows) and (rows, width), both computed, is of pairs of rows") {
  struct other_operand {
    std::uint32_t columns;
    category what;
    std::uint64_t bytes_of_weight;
    bool is_of_pairs;
  };
  for (const auto& one : {other_operand{64, category::activations, mib, true},
                          other_operand{64, category::weights, mib, false},             // a Linear
                          other_operand{1, category::activations, mib, false},          // a factor
                          other_operand{64, category::activations, mib / 4, false}}) {  // computed
    made_up_run run;
    const auto layer = run.module("", "Layer");
    run.at.during = phase::setup;
    run.weight("weight", one.bytes_of_weight);
    run.at = {phase::forward, layer, run.line("model.py", 7), 1};
    const auto square = run.keep(4 * mib);
    const auto width = run.keep(std::uint64_t{1024} * one.columns * 4, one.what);
    run[square].dimensions = run[width].dimensions = 2;
    run[square].rows = run[square].columns = run[width].rows = 1024;
    run[width].columns = one.columns;
    const auto product = run.make(category::outputs, mib / 4);
    run.kept_by(width, product);
    run.kept_by(square, product);
    run.at.during = phase::backward;
    run.free(run.gradient_of(square, "MmBackward0", category::temporaries, 4 * mib));
    run.free({square, width, product});
    const auto& of = run.evidence();
    CAPTURE(one.columns, one.bytes_of_weight);
    const auto parts =
        advice::most_parts_of_batch(of, blocks::passes_of(of), blocks::activity::training);
    CHECK((parts == 1) == one.is_of_pairs);
    CHECK(advice::train_batch(of).empty() == one.is_of_pairs);
  }
}

TEST_CASE("where a step has micro-batches already, there are more of them, and smaller ones") {
  using attribution::step_boundary;
  for (const auto& [is_one_line, boundary] :
       {std::pair{true, step_boundary::optimizer}, std::pair{false, step_boundary::optimizer},
        std::pair{true, step_boundary::user}}) {
    const bool are_known = is_one_line && boundary == step_boundary::optimizer;
    made_up_run run;
    const auto layer = run.module("", "Linear");
    const std::vector lines = {run.line("train.py", 11), run.line("train.py", 15)};
    std::uint32_t call = 0;
    for (unsigned pass = 0; pass < 4 * 5; ++pass) {
      run.at = {phase::forward, layer, lines[is_one_line ? 0 : pass % 2], ++call};
      const auto kept = run.keep(100 * mib);
      run.at.during = phase::backward;
      run.free({kept, run.gradient_of(kept, "MmBackward0", category::temporaries, 60 * mib)});
      if (pass % 4 != 3) continue;
      run.at = {phase::optimizer, {}, {}, 0};
      run.free(run.make(category::temporaries, mib));
      run.end_step(boundary);
    }
    const auto& of = run.evidence();
    const auto half =
        named(advice::train_batch(of), are_known ? "micro_batch_half" : "train_batch_half");
    CHECK(blocks::micro_batches(of, blocks::passes_of(of)) == (are_known ? 4 : 1));
    CHECK(half.change.starts_with(are_known
                                      ? "micro-batches of half the size: 8 a step instead of 4; "
                                        "(loss / 8).backward() where it is (loss / 4) now"
                                      : "batch size divided by 2; (loss / 2).backward()"));
  }
}

TEST_CASE("without training there is no batch to divide") {
  made_up_run run;
  run.at.during = phase::evaluation;
  run.free(run.make(category::temporaries, 5 * mib));
  CHECK(advice::train_batch(run.evidence()).empty());
}

TEST_CASE("gradients that are kept as zeros would be gone in the next forward pass") {
  linear_training run(4, true);
  const auto all = advice::zero_grad(run.evidence());
  const auto& made = named(all, "set_to_none");
  // Now, from the second step on: weight 8, gradient 8, input 40, kept 100, scratch 60, sum 8.
  CHECK(peak_of(run.log()) == 224 * mib);
  CHECK(peak_after(run, made) == 216 * mib);
}

TEST_CASE("gradients that a list keeps are none that were zeroed: the next step has its own") {
  for (const bool listed : {true, false}) {
    made_up_run run;
    const auto layer = run.module("", "Linear");
    for (unsigned i = 0; i < 4; ++i) {
      run.at = {phase::forward, layer, run.line("train.py", 5), i + 1};
      const auto kept = run.keep(100 * mib);
      run.at.during = phase::backward;
      if (listed || i == 0) {
        const auto gradient = run.gradient_of(kept, "MmBackward0", category::gradients, 30 * mib);
        run[gradient].name = run.text("weight");
      } else {
        run.free(run.gradient_of(kept, "MmBackward0", category::temporaries, 30 * mib));
      }
      run.free(kept);
      run.at = {phase::optimizer, {}, {}, 0};
      run.free(run.make(category::temporaries, mib));
      run.end_step();
    }
    CHECK(advice::zero_grad(run.evidence()).empty() == listed);
  }
}

TEST_CASE("gradients that no optimizer has looked at are zeroed by none") {
  linear_training run(4, true);
  auto of = run.evidence();
  of.blocks.change_all([](blocks::block_facts& facts) { facts.seen_by_optimizer = false; });
  CHECK(advice::zero_grad(of).empty());
}

TEST_CASE("gradients that are given back after each step are no finding") {
  linear_training run(4);
  CHECK(advice::zero_grad(run.evidence()).empty());
}

TEST_CASE("zero_grad between forward and backward: the old gradients live through the forward") {
  made_up_run run;
  const auto layer = run.module("", "Linear");
  block_number gradient = 0;
  for (unsigned i = 0; i < 3; ++i) {
    run.at = {phase::forward, layer, run.line("train.py", 5), i + 1};
    const auto kept = run.keep(100 * mib);
    run.free(run.make(category::temporaries, 40 * mib));
    if (i != 0) run.free(gradient);
    run.at.during = phase::backward;
    gradient = run.gradient_of(kept, "MmBackward0", category::gradients, 30 * mib);
    run.free(kept);
    run.at = {phase::optimizer, {}, {}, 0};
    run.free(run.make(category::temporaries, mib));
    run.end_step();
  }
  const auto all = advice::zero_grad(run.evidence());
  REQUIRE(all.size() == 1);
  CHECK(all[0].id == "zero_grad_placement");
  CHECK(all[0].how == advice::proof::replayed);
  CHECK(peak_of(run.log()) == 170 * mib);
  CHECK(peak_after(run, all[0]) == 140 * mib);
}

TEST_CASE("head and loss of an eighth of the places have an eighth of the logits") {
  made_up_run run;
  constexpr std::uint32_t words = 4096;
  constexpr std::uint32_t places = 1024;
  constexpr std::uint64_t logits_bytes = std::uint64_t{4} * words * places;  // 16 MiB
  (void)run.module("", "Model");
  const auto body = run.module("body", "Linear");
  const auto head = run.module("head", "Linear");
  run.at = {phase::other, head, {}, 0};
  const auto weight = run.weight("weight", std::uint64_t{4} * words * 256);  // 4 MiB
  run[weight].dimensions = 2;
  run[weight].rows = words;
  run[weight].columns = 256;
  for (unsigned i = 0; i < 2; ++i) {
    run.at = {phase::forward, body, run.line("train.py", 4), i + 1};
    const auto as_large = run.keep(logits_bytes);  // by chance
    run.at = {phase::forward, head, run.line("train.py", 5), i + 1};
    const auto logits = run.make(category::outputs, logits_bytes);
    run.at = {phase::forward, {}, run.line("torch/nn/functional.py", 9, "cross_entropy"), i + 1};
    const auto kept = run.keep(logits_bytes);
    run[kept].dimensions = 2;
    run[kept].rows = places;
    run[kept].columns = words;
    run.at.during = phase::backward;
    const auto of_loss =
        run.gradient_of(kept, "LogSoftmaxBackward0", category::temporaries, logits_bytes);
    const auto gradient = run.gradient_of(logits, "MmBackward0", category::gradients, 4 * mib);
    run[gradient].name = run.text("weight");
    run.free({of_loss, kept, logits, as_large});
    run.at = {phase::optimizer, {}, {}, 0};
    run.free(run.make(category::temporaries, mib));
    run.free(gradient);
    run.end_step();
  }
  const auto all = advice::chunked_loss(run.evidence());
  REQUIRE(all.size() == 1);
  REQUIRE(all[0].about);
  CHECK(all[0].about->bytes == 3 * logits_bytes);
  // Weight 4, its gradient 4, an activation of 16; three of 16, in parts three of 2 and a part's
  // gradient of 4.
  CHECK(peak_of(run.log()) == 72 * mib);
  CHECK(peak_after(run, all[0]) == 34 * mib);

  run[weight].rows = words + 1;  // no Linear layer makes these logits
  CHECK(advice::chunked_loss(run.evidence()).empty());
}

TEST_CASE("lengths that vary are rounded up to a quarter of the longest") {
  made_up_run run;
  const auto layer = run.module("", "Embedding");
  const auto line = run.line("train.py", 5);
  for (const std::uint64_t length : {100, 37, 64, 91, 12}) {
    run.at = {phase::forward, layer, line, static_cast<std::uint32_t>(length)};
    const auto kept = run.keep(length * mib);
    const auto labels = run.make(category::inputs, 64);
    run.at.during = phase::backward;
    const auto scratch = run.gradient_of(kept, "MulBackward0", category::temporaries, length * mib);
    run.free({scratch, kept, labels});
    run.at = {phase::optimizer, {}, {}, 0};
    run.free(run.make(category::temporaries, mib));
    run.end_step();
  }
  const auto all = advice::bucketing(run.evidence());
  REQUIRE(all.size() == 2);
  auto log = run.log();
  all[0].rewrite(log);
  std::vector<std::uint64_t> sizes;
  for (const auto& one : log.requests) {
    if (one.size > mib) sizes.push_back(one.size / mib);
  }
  CHECK(sizes == std::vector<std::uint64_t>{100, 100, 50, 50, 75, 75, 100, 100, 25, 25});
}

TEST_CASE("a first batch from another line, before any model ran, is padded like the others") {
  made_up_run run;
  const auto layer = run.module("", "Embedding");
  const auto line = run.line("train.py", 5);
  run.at = {phase::other, {}, run.line("loader.py", 1), 0};
  const auto raw = run.make(category::temporaries, 37 * mib);
  run.free(raw);
  for (const std::uint64_t length : {37, 100, 64, 91, 12}) {
    run.at = {phase::forward, layer, line, static_cast<std::uint32_t>(length)};
    const auto kept = run.keep(length * mib);
    run[kept].dimensions = 2;
    run[kept].rows = static_cast<std::uint32_t>(length);
    run[kept].columns = 256;
    run.at.during = phase::backward;
    const auto scratch = run.gradient_of(kept, "MulBackward0", category::temporaries, length * mib);
    run.free({scratch, kept});
    run.at = {phase::optimizer, {}, {}, 0};
    run.free(run.make(category::temporaries, mib));
    run.end_step();
  }
  // Nothing has the same size in every pass, but what is kept is as large as it is long.
  const auto all = advice::bucketing(run.evidence());
  REQUIRE(all.size() == 2);
  auto log = run.log();
  all[0].rewrite(log);
  CHECK(log.requests[0].size == 50 * mib);
}

TEST_CASE(
    "what outlives two more backward passes is gathered: as much in all for smaller batches") {
  made_up_run run;
  const auto layer = run.module("", "Linear");
  std::vector<block_number> kept;
  for (std::uint32_t step = 0; step < 5; ++step) {
    run.at = {phase::forward, layer, run.line("train.py", 11), step + 1};
    kept.push_back(run.keep(100 * mib));
    run.at = {phase::backward, layer, {}, 0};
    run.free(run.gradient_of(kept.back(), "MmBackward0", category::temporaries, 60 * mib));
    if (step != 0) run.free(kept.back());  // the first is kept with its graph
    run.at = {phase::optimizer, {}, {}, 0};
    run.free(run.make(category::temporaries, 8 * mib));
    run.end_step();
  }
  const auto& of = run.evidence();
  const auto scales =
      advice::scales_with_batch(of, blocks::passes_of(of), blocks::activity::training);
  CHECK_FALSE(scales[kept.front()]);
  CHECK(scales[kept[1]]);
  CHECK(scales[kept.back()]);
}
