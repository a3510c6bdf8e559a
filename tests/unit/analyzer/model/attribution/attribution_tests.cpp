// SPDX-License-Identifier: Apache-2.0
//
// Small traces from beginning to end.
#include <string>

#include "tests/unit/analyzer/model/attribution/attributed.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::test;
using attribution::category;
using attribution::evidence;
using attribution::phase;
using format::phase_action;
using format::phase_source;
using format::storage_role;

namespace {

constexpr std::uint64_t a = 0x7f0000000000;

// A model Net with a Linear "up", and one training step of it.
//   a + 0 MiB  parameter up.weight   a + 4  batch    a + 8  activation   a + 12  gradient
//   a + 16     its optimizer's state
class training {
 public:
  trace_builder trace;
  std::uint64_t root = 0;
  std::uint64_t up = 0;
  std::uint64_t optimizer = 0;
  std::uint64_t line = 0;

  training() {
    line = trace.stack({{"train.py", 7, "main"}, {"net.py", 3, "forward"}});
    root = trace.object(0x1000);
    up = trace.object(0x2000);
    optimizer = trace.object(0x3000);
    trace.segment(a, 100_MiB).scope({format::scope_grad, 0, 0, 0, {}});
    trace.alloc(weight, 4_MiB).alloc(batch, 1_MiB);
    trace.storage(storage_role::host_copy, batch);
  }
  training& forward(std::uint64_t activation_bytes = 2_MiB) {
    trace.scope({format::scope_grad, up, root, 0, {}});
    trace.module(root, root, "", "Net").module(up, root, "up", "Linear");
    trace.storage(storage_role::parameter, weight,
                  {4_MiB, "up.weight", "float32", root, format::storage_trainable});
    trace.alloc(activation, activation_bytes, line);
    trace.saved(activation, {activation_bytes, format::saved_requires_grad});
    return *this;
  }
  training& backward() {
    trace.phase(phase_action::begin, phase_source::backward);
    trace.scope({format::scope_backward, up, root, line, "MmBackward0"});
    trace.alloc(gradient, 4_MiB).storage(storage_role::leaf_gradient, gradient, {weight});
    trace.free(activation);
    trace.phase(phase_action::end, phase_source::backward);
    return *this;
  }
  training& step() {
    trace.phase(phase_action::begin, phase_source::optimizer_step, optimizer);
    trace.scope({format::scope_optimizer, 0, 0, 0, {}}).alloc(state, 4_MiB);
    trace.storage(storage_role::optimizer_state, state, {4_MiB, "up.weight", "exp_avg", optimizer});
    trace.phase(phase_action::end, phase_source::optimizer_step, optimizer);
    trace.step(format::step_source::optimizer, optimizer, "SGD");
    trace.scope({format::scope_grad, 0, 0, 0, {}});
    return *this;
  }

  static constexpr std::uint64_t weight = a;
  static constexpr std::uint64_t batch = a + 4_MiB;
  static constexpr std::uint64_t activation = a + 8_MiB;
  static constexpr std::uint64_t gradient = a + 12_MiB;
  static constexpr std::uint64_t state = a + 16_MiB;
};

}  // namespace

TEST_CASE("GIVEN a training step WHEN attributed THEN the peak is told by category") {
  training run;
  run.forward().backward().step();
  const attributed done(run.trace);
  CHECK(done.peak().total == 13_MiB);  // after the state: the activation is gone
  CHECK(done.peak().during == phase::optimizer);
  CHECK(done.peak().step == 0);
  CHECK(done.bytes(category::weights) == 4_MiB);
  CHECK(done.bytes(category::inputs) == 1_MiB);
  CHECK(done.bytes(category::gradients) == 4_MiB);
  CHECK(done.bytes(category::optimizer_states) == 4_MiB);
  CHECK(done.bytes(category::activations) == 0);
  const auto& in_forward = done.device().phases[phase::forward];
  CHECK(in_forward.at_peak.total == 7_MiB);
  CHECK(in_forward.at_peak.categories[category::activations].bytes == 2_MiB);
  CHECK(in_forward.at_peak.categories[category::activations].blocks == 1);
  CHECK(in_forward.allocated == 2_MiB);
  CHECK(done.device().phases[phase::backward].freed == 2_MiB);
}

TEST_CASE("GIVEN names WHEN attributed THEN modules and parameters have their bytes") {
  training run;
  run.forward().backward().step();
  const attributed done(run.trace);
  const auto& up = done.module("up");
  CHECK(up.type == "Linear");
  CHECK(up.bytes[category::weights] == 4_MiB);
  CHECK(up.bytes[category::gradients] == 4_MiB);
  CHECK(up.bytes[category::optimizer_states] == 4_MiB);
  CHECK(done.module("").total == 0);
  CHECK(done.peak().modules[0].total == 1_MiB);  // the batch belongs to no module
  REQUIRE(done.device().parameters.size() == 1);
  const auto& weight = done.device().parameters[0];
  CHECK(weight.root == "Net");
  CHECK(weight.name == "up.weight");
  CHECK(weight.dtype == "float32");
  CHECK(weight.trainable);
  CHECK(weight.sharing == 1);
  CHECK(weight.weights == 4_MiB);
  CHECK(weight.gradients == 4_MiB);
  CHECK(weight.optimizer_states == 4_MiB);
  CHECK(done.result.parameter_bytes == 4_MiB);
  CHECK(done.result.trainable_bytes == 4_MiB);
}

TEST_CASE("GIVEN memory from before the recording WHEN attributed THEN it is unknown") {
  trace_builder trace;
  trace.segment(a, 100_MiB).record(format::kind::alloc, a, 1_MiB);
  trace.report_totals(51_MiB, 100_MiB);
  const attributed done(trace);
  CHECK(done.peak().total == 51_MiB);
  CHECK(done.peak().unrecorded == 50_MiB);
  CHECK(done.bytes(category::unknown) == 51_MiB);
  CHECK(done.peak().modules[0].total == 51_MiB);
}

TEST_CASE("GIVEN an out-of-memory end WHEN the place is known from before THEN it is propagated") {
  training run;
  run.forward().backward().step();
  run.trace.free(training::gradient).scope({format::scope_grad, run.up, run.root, 0, {}});
  run.trace.alloc(training::activation, 2_MiB + 512, run.line);  // never saved: the end
  run.trace.alloc(a + 40_MiB, 60_MiB);
  const attributed done(run.trace);
  CHECK(done.peak().total == 71_MiB + 512);
  CHECK(done.bytes(category::activations) == 2_MiB + 512);
  const auto& by = done.peak().evidence_bytes[category::activations];
  CHECK(by[evidence::propagated] == 2_MiB + 512);
  CHECK(done.bytes(category::temporaries) == 60_MiB);
}

TEST_CASE("GIVEN two models of a class WHEN attributed THEN they and their states keep apart") {
  trace_builder trace;
  trace.segment(a, 100_MiB).scope({format::scope_grad, 0, 0, 0, {}});
  std::uint64_t roots[2] = {};
  for (std::uint64_t i = 0; i < 2; ++i) {
    roots[i] = trace.object(0x1000 * (i + 1));
    trace.module(roots[i], roots[i], "", "Net").alloc(a + i * 10_MiB, (i + 1) * 1_MiB);
    trace.storage(storage_role::parameter, a + i * 10_MiB, {0, "weight", "float32", roots[i], 1});
  }
  trace.storage(storage_role::parameter, a + 10_MiB, {0, "bias", "float32", roots[1], 1});
  const auto optimizer = trace.object(0x5000);
  trace.alloc(a + 30_MiB, 4_MiB).alloc(a + 40_MiB, 8_MiB);
  trace.storage(storage_role::optimizer_state, a + 30_MiB, {0, "weight", "exp_avg", optimizer});
  trace.storage(storage_role::optimizer_state, a + 40_MiB, {0, "bias", "exp_avg", optimizer});
  const attributed done(trace);
  CHECK(done.module("", "Net").total == 1_MiB);
  CHECK(done.module("", "Net #2").total == 14_MiB);
  CHECK(done.device().parameters.at(1).sharing == 2);  // weight and bias in one storage
}

TEST_CASE(
    "GIVEN two models with the same names WHEN their sizes differ THEN states are of their own") {
  trace_builder trace;
  trace.segment(a, 100_MiB).scope({format::scope_grad, 0, 0, 0, {}});
  for (std::uint64_t i = 0; i < 2; ++i) {
    const auto root = trace.object(0x1000 * (i + 1));
    const auto optimizer = trace.object(0x10000 * (i + 1));
    const auto weight = a + i * 40_MiB;
    const auto state = weight + 20_MiB;
    const auto bytes = (i + 1) * 1_MiB;
    trace.module(root, root, "", "Net").alloc(weight, bytes).alloc(state, bytes);
    trace.storage(storage_role::parameter, weight, {bytes, "weight", "float32", root, 1});
    trace.storage(storage_role::optimizer_state, state, {bytes, "weight", "exp_avg", optimizer});
  }
  const attributed done(trace);
  CHECK(done.module("", "Net").bytes[category::optimizer_states] == 1_MiB);
  CHECK(done.module("", "Net #2").bytes[category::optimizer_states] == 2_MiB);
}

TEST_CASE("GIVEN a model and a wrapper of it WHEN both ran as a root THEN they are one model") {
  for (const bool wrapper_first : {true, false}) {
    trace_builder trace;
    trace.segment(a, 100_MiB).scope({format::scope_grad, 0, 0, 0, {}});
    const auto model = trace.object(0x1000);
    const auto wrapper = trace.object(0x2000);
    const auto wrap = [&] {
      trace.module(wrapper, wrapper, "", "OptimizedModule").module(model, wrapper, "", "Net");
    };
    if (wrapper_first) wrap();
    trace.module(model, model, "", "Net");
    if (!wrapper_first) wrap();
    std::uint64_t at = a;
    for (const auto root : {model, wrapper}) {
      trace.alloc(at, 1_MiB);
      trace.storage(storage_role::parameter, at, {0, "weight", "float32", root, 1});
      at += 10_MiB;
    }
    const attributed done(trace);
    CHECK(done.module("", "Net").total == 2_MiB);
  }
}

TEST_CASE("GIVEN flattened parameters WHEN states name one of them THEN they are found") {
  trace_builder trace;
  const auto root = trace.object(0x1000);
  const auto optimizer = trace.object(0x5000);
  trace.segment(a, 100_MiB).scope({format::scope_grad, 0, 0, 0, {}});
  trace.module(root, root, "", "Net").alloc(a, 4_MiB).alloc(a + 4_MiB, 2_MiB);
  trace.storage(storage_role::parameter, a, {0, "lstm.*", "float32", root, 1});
  trace.storage(storage_role::optimizer_state, a + 4_MiB,
                {0, "lstm.weight_ih_l0", "exp_avg", optimizer});
  const attributed done(trace);
  CHECK(done.module("lstm").bytes[category::weights] == 4_MiB);
  CHECK(done.module("lstm").bytes[category::optimizer_states] == 2_MiB);
  CHECK(done.device().parameters.at(0).optimizer_states == 2_MiB);
}

TEST_CASE("GIVEN a softmax in a module WHEN it keeps squares THEN they are attention scores") {
  training run;
  const auto softmax =
      run.trace.stack({{"net.py", 9, "forward"}, {"torch/nn/functional.py", 100, "softmax"}});
  run.forward();
  auto& trace = run.trace;
  const auto keep = [&](std::uint64_t offset, std::uint64_t stack, std::uint64_t dimensions,
                        std::uint64_t rows, std::uint64_t columns) {
    trace.alloc(a + offset, 1_MiB, stack);
    trace.saved(a + offset, {1_MiB, format::saved_requires_grad, 6, dimensions, rows, columns});
  };
  keep(40_MiB, softmax, 4, 128, 256);
  keep(42_MiB, run.line, 4, 128, 256);  // dropout's, in the same module
  keep(44_MiB, run.line, 3, 256, 128);  // transposed
  keep(46_MiB, run.line, 4, 64, 64);    // a feature map
  keep(48_MiB, run.line, 2, 128, 256);
  trace.scope({format::scope_grad, run.root, run.root, 0, {}});
  keep(50_MiB, run.line, 4, 128, 256);  // in another module
  const attributed done(trace);
  CHECK(done.module("up").attention_scores == 3_MiB);
  CHECK(done.module("").attention_scores == 0);
}

TEST_CASE("GIVEN a softmax in C++ WHEN backward names its node THEN the scores are known") {
  training run;
  auto& trace = run.trace;
  run.forward(1_MiB);
  const auto line = trace.stack({{"net.py", 12, "forward"}});
  trace.alloc(a + 40_MiB, 1_MiB, line);
  trace.saved(a + 40_MiB, {1_MiB, format::saved_output, 6, 4, 32, 32});
  trace.scope({format::scope_backward, run.up, run.root, line, "SafeSoftmaxBackward0"});
  trace.alloc(a + 50_MiB, 1_MiB);
  const attributed done(trace);
  CHECK(done.module("up").attention_scores == 1_MiB);
}

TEST_CASE("GIVEN autocast WHEN autograd keeps 32-bit tensors THEN the place is told") {
  training run;
  auto& trace = run.trace;
  run.forward();
  trace.scope({format::scope_grad | format::scope_autocast, run.up, run.root, 0, {}});
  trace.alloc(a + 40_MiB, 1_MiB, run.line).alloc(a + 42_MiB, 1_MiB, run.line);
  const auto flags = format::saved_requires_grad | format::saved_autocast;
  trace.saved(a + 40_MiB, {1_MiB, flags, 6, 2, 1, 1})
      .saved(a + 42_MiB, {1_MiB, flags, 15, 2, 1, 1});
  const attributed done(trace);
  CHECK(done.result.autocast);
  REQUIRE(done.device().fp32_under_autocast.size() == 1);
  const auto& site = done.device().fp32_under_autocast[0];
  CHECK(site.held.bytes == 1_MiB);
  CHECK(site.site.number == run.line);
  CHECK(done.peak().modules[site.module].path == "up");
}

TEST_CASE("GIVEN autocast's copy of a weight WHEN attributed THEN it has the weight's name") {
  training run;
  run.forward();
  run.trace.alloc(a + 40_MiB, 2_MiB, run.line);
  run.trace.storage(storage_role::cast, a + 40_MiB, {training::weight});
  const attributed done(run.trace);
  for (const auto& group : done.peak().groups) {
    if (group.rule != "autocast_copy") continue;
    CHECK(group.what == category::activations);
    CHECK(group.held.bytes == 2_MiB);
    CHECK(group.name == done.group("up.weight").name);
    return;
  }
  FAIL("no copy");
}

TEST_CASE("GIVEN modules that run in backward WHEN attributed THEN they are checkpointed") {
  training run;
  run.forward();
  auto& trace = run.trace;
  trace.phase(phase_action::begin, phase_source::backward);
  trace.scope({format::scope_backward | format::scope_recompute | format::scope_grad,
               run.up,
               run.up,
               0,
               {}});
  trace.alloc(a + 40_MiB, 1_MiB, run.line);
  trace.saved(a + 40_MiB, {1_MiB, format::saved_requires_grad});
  trace.scope({format::scope_backward, run.up, run.root, run.line, "MmBackward0"});
  trace.alloc(a + 50_MiB, 1_MiB).free(a + 40_MiB);
  const attributed done(trace);
  REQUIRE(done.result.checkpointed.size() == 1);
  CHECK(done.result.checkpointed[0].path == "up");
  bool recomputed = false;
  for (const auto& group : done.peak().groups) recomputed = recomputed || group.recomputed;
  CHECK(recomputed);
}

TEST_CASE("GIVEN steps WHEN the program marks its own THEN these count") {
  training run;
  run.forward().backward().step();
  const attributed by_optimizer(run.trace);
  CHECK(by_optimizer.device().steps.boundary == attribution::step_boundary::optimizer);
  CHECK(by_optimizer.device().steps.count == 1);
  CHECK(by_optimizer.device().steps.steps[0].peak == 13_MiB);
  CHECK(by_optimizer.device().steps.steps[0].peak_in[phase::forward] == 7_MiB);
  run.trace.step(format::step_source::user).step(format::step_source::user);
  const attributed by_user(run.trace);
  CHECK(by_user.device().steps.boundary == attribution::step_boundary::user);
  CHECK(by_user.device().steps.count == 2);
}

TEST_CASE(
    "GIVEN phases of the program WHEN they nest THEN the outer one counts what the inner does") {
  trace_builder trace;
  trace.segment(a, 100_MiB).alloc(a, 1_MiB);
  trace.phase(phase_action::begin, phase_source::user, 0, "epoch").alloc(a + 1_MiB, 2_MiB);
  trace.phase(phase_action::begin, phase_source::nvtx, 0, "batch").alloc(a + 10_MiB, 8_MiB);
  trace.free(a + 10_MiB);
  trace.phase(phase_action::end, phase_source::nvtx, 0, "batch").alloc(a + 4_MiB, 1_MiB);
  trace.phase(phase_action::end, phase_source::user, 0, "epoch").alloc(a + 20_MiB, 16_MiB);
  const attributed done(trace);
  const auto& phases = done.device().named_phases;
  REQUIRE(phases.size() == 2);
  CHECK(phases[0].begun == 1);
  CHECK(phases[0].allocated == 11_MiB);
  CHECK(phases[0].freed == 8_MiB);
  CHECK(phases[0].peak == 11_MiB);
  CHECK(phases[1].allocated == 8_MiB);
  CHECK(phases[1].peak == 11_MiB);
  CHECK(phases[1].peak_event == phases[0].peak_event);
  CHECK(!phases[0].nvtx);
  CHECK(phases[1].nvtx);
}

TEST_CASE("GIVEN ranges that cross and end in another thread WHEN counted THEN names tell them") {
  trace_builder trace;
  trace.segment(a, 100_MiB).context(0, trace.thread(1, "main"));
  trace.phase(phase_action::begin, phase_source::nvtx, 0, "load");
  trace.phase(phase_action::begin, phase_source::nvtx, 0, "run").alloc(a, 1_MiB);
  trace.phase(phase_action::end, phase_source::nvtx, 0, "load").alloc(a + 1_MiB, 2_MiB);
  trace.context(0, trace.thread(2, "other"));
  trace.phase(phase_action::end, phase_source::nvtx, 0, "run");
  trace.context(0, 1).alloc(a + 4_MiB, 4_MiB);
  const attributed done(trace);
  const auto& phases = done.device().named_phases;
  REQUIRE(phases.size() == 2);
  CHECK(phases[0].allocated == 1_MiB);
  CHECK(phases[1].allocated == 3_MiB);
}

TEST_CASE("GIVEN boundaries found by other means WHEN the program has none THEN they count") {
  training run;
  run.forward();
  attribution::options wanted;
  wanted.inferred_boundaries = {3};
  const attributed done(run.trace, wanted);
  CHECK(done.device().steps.boundary == attribution::step_boundary::inferred);
  CHECK(done.device().steps.count == 1);
  CHECK(done.device().steps.steps[0].peak == 5_MiB);
}

TEST_CASE("GIVEN what the recorder could not do WHEN attributed THEN it is told") {
  trace_builder trace;
  trace.info("agent", "no Python").info("autograd", "on").alloc(a, 512);
  const attributed done(trace);
  CHECK(done.result.agent == "no Python");
  CHECK(done.result.autograd == "on");
}
