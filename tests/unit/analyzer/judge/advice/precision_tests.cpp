// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/blocks/autocast_widths.h"
#include "tests/unit/analyzer/judge/advice/made_up_run.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::tests;
using blocks::operation_kind;

namespace {

// Linear (weight 16, keeps 80) and then a normalisation (keeps 40): one training step.
struct normalised_training : made_up_run {
  normalised_training() {
    const auto root = module("", "Net");
    const auto linear = module("linear", "Linear");
    const auto norm = module("norm", "LayerNorm");
    at.during = phase::setup;
    weight("linear.weight", 16 * mib);
    at = {phase::forward, linear, line("model.py", 1), 1};
    product = keep(80 * mib);
    at = {phase::forward, norm, line("model.py", 2), 1};
    normal = keep(40 * mib);
    at = {phase::forward, root, line("model.py", 3), 1};
    sum = keep(20 * mib);
    at.during = phase::backward;
    of_norm = gradient_of(normal, "NativeLayerNormBackward0", category::temporaries, 40 * mib);
    of_product = gradient_of(product, "AddmmBackward0", category::temporaries, 80 * mib);
    gradient = gradient_of(product, "AddmmBackward0", category::gradients, 16 * mib);
    free({product, normal, sum, of_norm, of_product});
    at = {phase::optimizer, {}, {}, 0};
    free(make(category::temporaries, mib));
    end_step();
  }
  block_number product, normal, sum, of_norm, of_product, gradient;
};

}  // namespace

TEST_CASE("autocast knows products and wide operations by their nodes") {
  CHECK(blocks::kind_of_node("AddmmBackward0") == operation_kind::product);
  CHECK(blocks::kind_of_node("ScaledDotProductEfficientAttentionBackward0") ==
        operation_kind::product);
  CHECK(blocks::kind_of_node("NativeLayerNormBackward0") == operation_kind::wide);
  CHECK(blocks::kind_of_node("LogSoftmaxBackward0") == operation_kind::wide);
  CHECK(blocks::kind_of_node("GeluBackward0") == operation_kind::follows);
  CHECK(blocks::kind_of_node("") == operation_kind::unknown);
}

TEST_CASE("products are narrow, normalisation and sums of what it gives are wide") {
  normalised_training run;
  const auto widths = blocks::widths_under_autocast(run.evidence());
  CHECK(widths.bits[run.product] == 16);
  CHECK(widths.bits[run.normal] == 32);
  CHECK(widths.operand_bits[run.normal] == 16);
  CHECK(widths.operand_bits[run.of_norm] == 16);
  CHECK(widths.bits[run.sum] == 32);
  CHECK(widths.bits[run.of_norm] == 32);
  CHECK(widths.bits[run.of_product] == 16);
}

TEST_CASE("mixed precision halves products, copies weights and keeps gradients wide") {
  normalised_training run;
  const auto all = advice::mixed_precision(run.evidence());
  REQUIRE(all.size() == 1);
  // Now, when the gradient is made: weight 16, kept 80 + 40 + 20, scratch 40 + 80, gradient 16.
  CHECK(peak_of(run.log()) == 292 * mib);
  // Then, when the first input's gradient is cast: weight 16 and its copy 8, kept 40 + 40 + 20, of
  // the norm 20 (cast to what the product made), of the product 40 and 80.
  CHECK(peak_after(run, all[0]) == (16 + 8 + 100 + 20 + 40 + 80) * mib);
}

TEST_CASE("where weights dominate, autocast's copies cost more than it saves") {
  made_up_run run;
  const auto linear = run.module("", "Linear");
  run.at.during = phase::setup;
  run.weight("weight", 100 * mib);
  run.at = {phase::forward, linear, run.line("train.py", 1), 1};
  const auto kept = run.keep(2 * mib);
  run.at.during = phase::backward;
  const auto scratch = run.gradient_of(kept, "MmBackward0", category::temporaries, 2 * mib);
  run.free({kept, scratch});
  const auto all = advice::mixed_precision(run.evidence());
  REQUIRE(all.size() == 1);
  CHECK(peak_after(run, all[0]) > peak_of(run.log()));
}

TEST_CASE("everything in 16 bits: all floating-point blocks are half as large") {
  normalised_training run;
  const auto all = advice::pure_bf16(run.evidence());
  REQUIRE(all.size() == 1);
  CHECK(peak_after(run, all[0]) == peak_of(run.log()) / 2);
}

TEST_CASE("an evaluation is told of 16 bits where weights are most of its memory") {
  for (const auto weights : {100 * mib, 8 * mib}) {
    made_up_run run;
    const auto linear = run.module("", "Linear");
    run.at.during = phase::setup;
    run.weight("weight", weights);
    run.at = {phase::evaluation, linear, run.line("serve.py", 1), 1};
    run.free(run.make(category::temporaries, 20 * mib));
    const auto all = advice::pure_bf16(run.evidence());
    REQUIRE(all.size() == (weights > 20 * mib ? 1 : 0));
    if (all.empty()) continue;
    CHECK(peak_after(run, all[0]) == 60 * mib);
    CHECK(all[0].change.starts_with("model.to(torch.bfloat16) before it is moved to the GPU"));
    CHECK_FALSE(all[0].cost.empty());
  }
}

TEST_CASE("a library that runs the loop has an option for mixed precision") {
  const auto told_to = [](const std::string& loop) {
    made_up_run run;
    const auto linear = run.module("", "Linear");
    run.at = {phase::forward, linear, run.line("net.py", 1, "forward", run.line(loop, 3)), 1};
    const auto kept = run.keep(20 * mib);
    run.at.during = phase::backward;
    run.free({kept, run.gradient_of(kept, "MmBackward0", category::temporaries, 20 * mib)});
    return advice::mixed_precision(run.evidence()).at(0).change;
  };
  CHECK(told_to("transformers/trainer.py") == "bf16=True in TrainingArguments");
  CHECK(told_to("lightning/pytorch/loops/fit_loop.py") == "Trainer(precision=\"bf16-mixed\")");
  CHECK(told_to("train.py").starts_with("with torch.autocast("));
}

TEST_CASE("masks keep their width") {
  normalised_training run;
  run[run.product].element_bits = 8;
  const auto all = advice::mixed_precision(run.evidence());
  REQUIRE(all.size() == 1);
  CHECK(peak_after(run, all[0]) == (16 + 8 + 140 + 40 + 40 + 80) * mib);
}

TEST_CASE("operations keep casts of what has another width, and it goes with its last use") {
  made_up_run run;
  (void)run.module("", "Net");
  const auto conv = run.module("conv", "Conv2d");
  const auto norm = run.module("norm", "GroupNorm");
  const auto next = run.module("next", "Conv2d");
  run.at = {phase::forward, conv, run.line("model.py", 1), 1};
  const auto product = run.keep(80 * mib);
  run.at = {phase::forward, norm, run.line("model.py", 2), 1};
  const auto normal = run.keep(80 * mib);
  run.kept_by(product, normal);
  run.at = {phase::forward, next, run.line("model.py", 3), 1};
  const auto last = run.keep(80 * mib);
  run.kept_by(normal, last);
  run.kept_by(last, last);
  const auto widths = blocks::widths_under_autocast(run.evidence());
  REQUIRE(widths.copies.size() == 2);
  CHECK(widths.copies[0].of == product);
  CHECK(widths.copies[0].by == normal);
  CHECK(widths.copies[0].bits == 32);
  CHECK(widths.copies[1].of == normal);
  CHECK(widths.copies[1].by == last);
  CHECK(widths.copies[1].bits == 16);
  CHECK_FALSE(widths.kept_itself[product]);
  CHECK_FALSE(widths.kept_itself[normal]);
  CHECK(widths.kept_itself[last]);
}

namespace {

// Logits out of a Linear, the logarithm of their softmax, a loss that keeps it.
struct loss_training : made_up_run {
  explicit loss_training(const std::string& function) {
    (void)module("", "Net");
    const auto head = module("head", "Linear");
    at = {phase::forward, head, line("model.py", 1), 1};
    logits = make(category::outputs, 100 * mib);
    at = {phase::forward, {}, line("functional.py", 2, function), 1};
    logarithm = keep(100 * mib);
    const auto loss = make(category::outputs, 4);
    kept_by(logarithm, logarithm);
    kept_by(logarithm, loss);
    at.during = phase::backward;
    of_loss = gradient_of(logarithm, "NllLossBackward0", category::temporaries, 100 * mib);
    of_logarithm = gradient_of(logarithm, "LogSoftmaxBackward0", category::temporaries, 100 * mib);
    free({logarithm, of_loss, of_logarithm, logits, loss});
  }
  block_number logits, logarithm, of_loss, of_logarithm;
};

}  // namespace

TEST_CASE("cross_entropy takes its logarithm in the width of the logits, and the loss a cast") {
  loss_training run("cross_entropy");
  const auto widths = blocks::widths_under_autocast(run.evidence());
  CHECK(widths.bits[run.logarithm] == 16);
  CHECK(widths.cast_ends[run.logarithm] == 0);
  REQUIRE(widths.copies.size() == 1);
  CHECK(widths.copies[0].bits == 32);
  CHECK(widths.bits[run.of_logarithm] == 16);
  CHECK(widths.operand_bits[run.of_loss] == 16);
}

TEST_CASE("log_softmax casts its operand to 32 bits and keeps its result so") {
  loss_training run("log_softmax");
  const auto widths = blocks::widths_under_autocast(run.evidence());
  CHECK(widths.bits[run.logarithm] == 32);
  CHECK(widths.cast_ends[run.logarithm] != 0);
  CHECK(widths.copies.empty());
  CHECK(widths.bits[run.of_logarithm] == 32);
  CHECK(widths.operand_bits[run.of_logarithm] == 16);
}

TEST_CASE("a loss of transformers casts the logits itself until the loss is there") {
  loss_training at_once("log_softmax");
  loss_training run("ForCausalLMLoss");
  const auto widths = blocks::widths_under_autocast(run.evidence());
  CHECK(widths.bits[run.logarithm] == 32);
  CHECK(widths.cast_ends[run.logarithm] >
        blocks::widths_under_autocast(at_once.evidence()).cast_ends[at_once.logarithm]);
}

TEST_CASE(
    "GIVEN weights converted on the GPU WHEN on the way there THEN only narrow ones are on it") {
  made_up_run run;
  const std::string library = "/site-packages/torch/nn/modules/module.py";
  const auto moves = run.line(library, 944, "_apply", run.line("serve.py", 3));
  const auto converts = run.line(library, 944, "_apply", run.line("serve.py", 4));
  run.at = {phase::setup, {}, moves, 0};
  const auto first = run.make(category::weights, 40 * mib);
  const auto second = run.make(category::weights, 24 * mib);
  const auto whole = run.make(category::weights, 8 * mib);  // stays as it is
  const auto convert = [&] {
    run.at = {phase::setup, {}, converts, 0};
    const auto narrow = run.make(category::weights, 20 * mib);
    run.free(first);
    (void)run.make(category::weights, 12 * mib);
    run.free(second);
    return narrow;
  };
  const auto with_bits = [&](block_number block, std::uint8_t bits) {
    auto of = run.evidence();
    of.blocks.change(block, [&](auto& facts) { facts.element_bits = bits; });
    return of;
  };
  SECTION("they have 16 bits") {
    const auto of = with_bits(convert(), 16);
    const auto all = advice::convert_before_move(of);
    REQUIRE(all.size() == 1);
    CHECK(peak_of(run.log()) == 92 * mib);
    CHECK(peak_after(run, all[0]) == (20 + 12 + 8) * mib);
  }
  SECTION("they have 32, or it is not known") {
    const auto narrow = convert();
    CHECK(advice::convert_before_move(with_bits(narrow, 32)).empty());
    CHECK(advice::convert_before_move(run.evidence()).empty());
  }
  SECTION("another part of what was moved keeps its 32") {
    auto of = with_bits(convert(), 16);
    of.blocks.change(whole, [](auto& facts) { facts.element_bits = 32; });
    CHECK(advice::convert_before_move(of).empty());
  }
  SECTION("the program computes with the wide ones before") {
    run.at = {phase::forward, {}, run.line("serve.py", 9), 1};
    run.free(run.make(category::outputs, mib));
    CHECK(advice::convert_before_move(with_bits(convert(), 16)).empty());
  }
}
