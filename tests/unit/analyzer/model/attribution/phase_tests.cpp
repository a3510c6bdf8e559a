// SPDX-License-Identifier: Apache-2.0
//
// Frames and scopes to phases.
#include <array>
#include <string>

#include "analyzer/model/attribution/frame_marks.h"
#include "analyzer/model/attribution/phase_tracker.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using attribution::phase;
using format::phase_action;
using format::phase_source;
namespace mark = attribution::mark;

namespace {

// One thread of a program; each call is an allocation.
class program {
 public:
  program() : phases_(names_) {}

  attribution::place allocate(std::uint32_t flags, std::uint32_t root = 0,
                              std::uint32_t activity = 0) {
    attribution::stack_marks marks;
    marks.any = marks.activity = activity;
    return phases_.at_allocation(head(flags, root), marks);
  }
  attribution::place model(std::uint32_t root = 1, std::uint32_t flags = format::scope_grad) {
    return allocate(flags, root, mark::module_call);
  }
  attribution::place outside() { return allocate(format::scope_grad); }
  void record(phase_source source, phase_action action) {
    phases_.on_phase(head(0, 0), {action, source, {}, {}});
  }
  void backward() {
    record(phase_source::backward, phase_action::begin);
    record(phase_source::backward, phase_action::end);
  }
  void saves() { phases_.on_saved(head(0, 0)); }
  [[nodiscard]] bool runs(std::uint32_t call) const {
    return phases_.call_runs(trace::thread_id{}, call);
  }
  [[nodiscard]] const attribution::pass_counts& passes() const { return phases_.passes(); }

 private:
  [[nodiscard]] static trace::event head(std::uint32_t flags, std::uint32_t root) {
    trace::event made;
    made.scope.flags = flags;
    made.scope.root = made.scope.module = trace::object_id{root};
    return made;
  }

  trace::dictionary names_;
  attribution::phase_tracker phases_;
};

constexpr auto grad = format::scope_grad;
constexpr auto backward = format::scope_backward;
constexpr auto optimizer = format::scope_optimizer;

}  // namespace

TEST_CASE("GIVEN a training step WHEN followed THEN each part is its phase") {
  program run;
  CHECK(run.outside().during == phase::setup);
  CHECK(run.model().during == phase::forward);
  CHECK(run.outside().during == phase::forward);  // the loss
  run.record(phase_source::backward, phase_action::begin);
  CHECK(run.allocate(backward).during == phase::backward);
  run.record(phase_source::backward, phase_action::end);
  CHECK(run.outside().during == phase::other);
  run.record(phase_source::optimizer_step, phase_action::begin);
  CHECK(run.allocate(optimizer, 0, mark::optimizer).during == phase::optimizer);
  run.record(phase_source::optimizer_step, phase_action::end);
  CHECK(run.allocate(grad, 0, mark::zero_grad).during == phase::zero_grad);
  CHECK(run.allocate(grad, 0, mark::data_loading).during == phase::data_loading);
  CHECK(run.outside().during == phase::other);
  CHECK(run.model(1, 0).during == phase::evaluation);
  CHECK(run.model(1, grad | format::scope_inference).during == phase::evaluation);
  CHECK(run.outside().during == phase::other);
}

TEST_CASE("GIVEN a closure in an optimizer's step WHEN followed THEN the innermost phase counts") {
  program run;
  run.record(phase_source::optimizer_step, phase_action::begin);
  CHECK(run.allocate(grad | optimizer, 1, mark::module_call).during == phase::forward);
  run.record(phase_source::backward, phase_action::begin);
  CHECK(run.allocate(backward | optimizer).during == phase::backward);
  run.record(phase_source::backward, phase_action::end);
  CHECK(run.allocate(optimizer, 0, mark::optimizer).during == phase::optimizer);
}

TEST_CASE("GIVEN an optimizer that steps in backward WHEN followed THEN the step counts") {
  program run;
  run.record(phase_source::backward, phase_action::begin);
  run.record(phase_source::optimizer_step, phase_action::begin);
  CHECK(run.allocate(backward | optimizer, 0, mark::optimizer).during == phase::optimizer);
  run.record(phase_source::optimizer_step, phase_action::end);
  CHECK(run.allocate(backward).during == phase::backward);
}

TEST_CASE("GIVEN an optimizer without records WHEN its frames are seen THEN it steps") {
  program run;
  CHECK(run.model().during == phase::forward);
  const auto first = run.allocate(0, 0, mark::optimizer);
  CHECK(first.during == phase::optimizer);
  CHECK(run.model().during == phase::forward);
  const auto second = run.allocate(0, 0, mark::update_helper);
  CHECK(second.during == phase::optimizer);
  CHECK(second.passes.optimizer_steps == first.passes.optimizer_steps + 1);
}

TEST_CASE("GIVEN calls of a model WHEN followed THEN each has its number until it returns") {
  program run;
  const auto first = run.model();
  CHECK(first.call != 0);
  CHECK(run.model().call == first.call);
  CHECK(run.runs(first.call));
  CHECK(run.outside().call == 0);
  CHECK_FALSE(run.runs(first.call));
  const auto second = run.model();
  CHECK(second.call != first.call);
  CHECK(second.passes.calls == first.passes.calls + 1);
  run.record(phase_source::backward, phase_action::begin);  // without an event after the call
  CHECK_FALSE(run.runs(second.call));
}

TEST_CASE("GIVEN a call that records gradients WHEN a part of it does not THEN it is forward") {
  program run;
  CHECK(run.model(1, 0).during == phase::evaluation);
  CHECK(run.model(1, grad).during == phase::forward);
  CHECK(run.model(1, 0).during == phase::forward);
  CHECK(run.allocate(0).during == phase::forward);  // the call has returned, backward is to come
  CHECK(run.model(1, 0).during == phase::evaluation);
}

TEST_CASE("GIVEN a backward pass inside another WHEN followed THEN the outer one counts") {
  program run;
  run.record(phase_source::backward, phase_action::begin);
  const auto before = run.passes();
  run.backward();
  CHECK(run.passes().backwards_begun == before.backwards_begun);
  CHECK(run.passes().backwards_ended == before.backwards_ended);
  run.record(phase_source::backward, phase_action::end);
  CHECK(run.passes().backwards_ended == before.backwards_ended + 1);
}

TEST_CASE("GIVEN backward without records WHEN its events are seen THEN it begins and ends") {
  program run;
  CHECK(run.model().during == phase::forward);
  const auto first = run.allocate(backward);
  CHECK(first.passes.backwards_begun == 1);
  CHECK(run.allocate(backward).passes.backwards_begun == 1);
  CHECK(run.outside().passes.backwards_ended == 1);
  CHECK(run.allocate(backward).passes.backwards_begun == 2);
}

TEST_CASE("GIVEN a module in backward WHEN it runs THEN it is a recomputation and a call") {
  program run;
  run.record(phase_source::backward, phase_action::begin);
  const auto gradient = run.allocate(backward, 1);  // of a module: none runs
  CHECK_FALSE(gradient.recompute);
  CHECK(gradient.call == 0);
  const auto again = run.allocate(backward | grad | format::scope_recompute, 1);
  CHECK(again.during == phase::backward);
  CHECK(again.recompute);
  CHECK(again.call != 0);
  CHECK(run.allocate(backward | grad, 0, mark::checkpoint).recompute);
  CHECK_FALSE(run.allocate(backward, 0, mark::checkpoint).recompute);
}

TEST_CASE("GIVEN a program without modules WHEN autograd keeps tensors THEN forward runs") {
  program run;
  CHECK(run.outside().during == phase::setup);
  run.saves();
  const auto forward = run.outside();
  CHECK(forward.during == phase::forward);
  CHECK(forward.passes.calls == 1);
  run.backward();
  CHECK(run.outside().during == phase::other);
  run.saves();
  CHECK(run.outside().passes.calls == 2);
}

TEST_CASE("GIVEN frames of known functions WHEN looked at THEN they say what ran") {
  using attribution::marks_of_frame;
  const std::string site = "/usr/lib/python3/site-packages/";
  CHECK(marks_of_frame(site + "torch/nn/modules/module.py", "_call_impl") == mark::module_call);
  CHECK(marks_of_frame(site + "torch/nn/modules/module.py", "forward") == 0);
  CHECK(marks_of_frame(site + "torch/nn/modules/module.py", "convert") == mark::module_move);
  CHECK(marks_of_frame(site + "torch/optim/adamw.py", "step") == mark::optimizer);
  CHECK(marks_of_frame(site + "torch/optim/optimizer.py", "zero_grad") == mark::zero_grad);
  CHECK(marks_of_frame(site + "torch/optim/adam.py", "_init_group") ==
        (mark::optimizer | mark::state_creation));
  CHECK(marks_of_frame(site + "torch/optim/swa_utils.py", "update_parameters") == 0);
  CHECK(marks_of_frame(site + "torch/utils/data/dataloader.py", "__next__") == mark::data_loading);
  CHECK(marks_of_frame(site + "torch/nn/functional.py", "softmax") == mark::softmax);
  CHECK(marks_of_frame(site + "torch/nn/functional.py", "log_softmax") == 0);
  CHECK(marks_of_frame("/srv/train.py", "step") == 0);
}

TEST_CASE("GIVEN a stack WHEN looked at THEN its innermost activity is told from the others") {
  trace::dictionary names;
  const std::array frames = {std::pair("torch/optim/lbfgs.py", "step"),
                             std::pair("train.py", "closure"),
                             std::pair("torch/nn/modules/module.py", "_wrapped_call_impl"),
                             std::pair("model.py", "forward")};
  std::uint64_t text = 0;
  std::uint64_t stack = 0;
  for (const auto& [file, function] : frames) {
    REQUIRE(names.define_text(file) == trace::dictionary::outcome::defined);
    REQUIRE(names.define_text(function) == trace::dictionary::outcome::defined);
    text += 2;
    REQUIRE(names.define_frame(text - 1, text, 7) == trace::dictionary::outcome::defined);
    REQUIRE(names.define_stack(stack, text / 2) == trace::dictionary::outcome::defined);
    ++stack;
  }
  attribution::frame_marks marks(names);
  const auto innermost = marks[trace::stack_id{4}];
  CHECK(innermost.activity == mark::module_call);
  CHECK(innermost.any == (mark::module_call | mark::optimizer));
  CHECK(innermost.innermost == 0);
  CHECK(marks[trace::stack_id{2}].activity == mark::optimizer);
  CHECK(marks[trace::stack_id{}].any == 0);
}

TEST_CASE("GIVEN a model that was evaluated WHEN no gradients are recorded THEN it goes on") {
  program run;
  CHECK_FALSE(run.allocate(0).evaluating);  // nothing was yet
  CHECK_FALSE(run.model(1, 0).evaluating);  // in the model itself: its phase says so
  const auto stacked = run.allocate(0);
  CHECK(stacked.during == phase::other);
  CHECK(stacked.evaluating);
  CHECK_FALSE(run.outside().evaluating);  // gradients are recorded
  CHECK(run.allocate(0).evaluating);
  run.backward();
  CHECK_FALSE(run.allocate(0).evaluating);  // it has trained since
  CHECK(run.model(1, 0).during == phase::evaluation);
  CHECK(run.allocate(0).evaluating);
  CHECK(run.model().during == phase::forward);
  CHECK_FALSE(run.allocate(0).evaluating);
}
