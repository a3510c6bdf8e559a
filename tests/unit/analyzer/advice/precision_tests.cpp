// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/autocast_widths.h"
#include "analyzer/advice/pieces.h"
#include "tests/unit/analyzer/advice/made_up_run.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::tests;
using advice::operation_kind;

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
  CHECK(advice::kind_of_node("AddmmBackward0") == operation_kind::product);
  CHECK(advice::kind_of_node("ScaledDotProductEfficientAttentionBackward0") ==
        operation_kind::product);
  CHECK(advice::kind_of_node("NativeLayerNormBackward0") == operation_kind::wide);
  CHECK(advice::kind_of_node("LogSoftmaxBackward0") == operation_kind::wide);
  CHECK(advice::kind_of_node("GeluBackward0") == operation_kind::follows);
  CHECK(advice::kind_of_node("") == operation_kind::unknown);
}

TEST_CASE("products are narrow, normalisation and sums of what it gives are wide") {
  normalised_training run;
  const auto widths = advice::widths_under_autocast(run.evidence());
  CHECK(widths.bits[run.product] == 16);
  CHECK(widths.bits[run.normal] == 32);
  CHECK(widths.normalises[run.normal]);
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
  // Then: weight 16 and its copy 8, kept 40 + 40 + 20, scratch 40 + 40, gradient 8 and 16.
  CHECK(peak_after(run, all[0]) == (16 + 8 + 100 + 80 + 24) * mib);
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

TEST_CASE("masks keep their width") {
  normalised_training run;
  run[run.product].element_bits = 8;
  const auto all = advice::mixed_precision(run.evidence());
  REQUIRE(all.size() == 1);
  CHECK(peak_after(run, all[0]) == (16 + 8 + 140 + 80 + 24) * mib);
}
