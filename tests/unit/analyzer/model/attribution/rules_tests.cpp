// SPDX-License-Identifier: Apache-2.0
//
// Each rule on blocks made by hand.
#include <set>
#include <string>

#include "analyzer/model/attribution/rules.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using attribution::category;
using attribution::evidence;
using attribution::phase;
using format::storage_role;
namespace mark = attribution::mark;

namespace {

// A block, its end and what the run knows; by default made and freed in one call of a model.
struct situation {
  attribution::block_life block;
  attribution::life_end end;
  attribution::stack_marks marks;
  attribution::run_knowledge run;

  explicit situation(phase during = phase::forward) {
    block.bytes = 1 << 20;
    block.born.during = during;
    const bool in_model = during == phase::forward || during == phase::evaluation;
    block.born.call = in_model ? 1 : 0;
    end.call_running = in_model;
    end.during = during;
  }
  situation& role(storage_role what) {
    block.roles |= attribution::bit_of(what);
    return *this;
  }
  situation& saved(std::uint32_t flags = format::saved_requires_grad) {
    block.saved.times = 1;
    block.saved.always = block.saved.ever = flags;
    return *this;
  }
  situation& returned() {  // the model's call
    end.call_running = false;
    return *this;
  }
  situation& in_backward() {  // it ends there
    returned();
    ++end.passes.backwards_begun;
    end.in_backward = true;
    end.during = phase::backward;
    return *this;
  }
  situation& after_backward() {
    returned();
    ++end.passes.backwards_begun;
    ++end.passes.backwards_ended;
    end.during = phase::other;
    return *this;
  }
  situation& next_step() {
    after_backward();
    ++end.passes.optimizer_steps;
    ++end.passes.calls;
    return *this;
  }
  situation& alive() {
    end.alive = true;
    return *this;
  }
  situation& made_by(std::uint32_t marks_of_the_innermost) {
    marks.any = marks.innermost = marks_of_the_innermost;
    return *this;
  }
  [[nodiscard]] attribution::classification judged() const {
    return attribution::judge({block, end, marks, run});
  }
};

void check(const situation& about, category what, evidence how, const std::string& rule) {
  const auto found = about.judged();
  CHECK(name_of(found.what) == name_of(what));
  CHECK(name_of(found.how) == name_of(how));
  CHECK(std::string(found.rule) == rule);
}

}  // namespace

TEST_CASE("GIVEN roles WHEN judged THEN each says its category") {
  const auto annotated = evidence::annotated;
  check(situation(phase::setup).role(storage_role::parameter), category::weights, annotated,
        "module_parameter");
  check(situation(phase::setup).role(storage_role::copy), category::weights, annotated,
        "parameter_copy");
  check(situation(phase::setup).role(storage_role::buffer), category::buffers, annotated,
        "module_buffer");
  check(situation(phase::backward).role(storage_role::gradient), category::gradients, annotated,
        "gradient_of_leaf");
  check(situation(phase::backward).role(storage_role::leaf_gradient), category::gradients,
        annotated, "gradient_of_leaf");
  check(situation(phase::optimizer).role(storage_role::optimizer_state), category::optimizer_states,
        annotated, "optimizer_state");
  check(situation().role(storage_role::workspace), category::workspace, annotated,
        "library_workspace");
  check(situation(phase::other).role(storage_role::input), category::inputs, annotated,
        "model_input");
}

TEST_CASE("GIVEN several roles WHEN judged THEN the precedence of the categories decides") {
  situation both(phase::setup);
  both.role(storage_role::buffer).role(storage_role::parameter).saved();
  CHECK(both.judged().what == category::weights);
  situation batch(phase::other);
  batch.role(storage_role::host_copy).saved(format::saved_leaf);
  CHECK(batch.judged().what == category::inputs);
  situation stolen(phase::backward);
  stolen.role(storage_role::leaf_gradient).saved();
  CHECK(stolen.judged().what == category::gradients);
}

TEST_CASE("GIVEN the program's annotation WHEN judged THEN it is what the program says") {
  situation about(phase::setup);
  about.role(storage_role::parameter).role(storage_role::user);
  about.block.annotated_as = category::inputs;
  check(about, category::inputs, evidence::annotated, "user_annotation");
}

TEST_CASE("GIVEN a leaf that receives gradients WHEN there are no modules THEN it is a weight") {
  check(situation(phase::setup).role(storage_role::leaf), category::weights, evidence::annotated,
        "trained_leaf");
}

TEST_CASE("GIVEN a leaf beside a model's parameters WHEN judged THEN how long it lives decides") {
  situation batch(phase::other);
  batch.role(storage_role::leaf).next_step();
  batch.run.parameters = true;
  check(batch, category::inputs, evidence::inferred, "differentiated_input");
  batch.next_step();
  check(batch, category::weights, evidence::annotated, "trained_leaf");
}

TEST_CASE("GIVEN a leaf that a module computed WHEN judged THEN it is no weight") {
  situation detached;  // by re-entrant checkpointing
  detached.role(storage_role::leaf).saved().in_backward();
  check(detached, category::activations, evidence::annotated, "kept_by_autograd");
}

TEST_CASE("GIVEN a copy from the host WHEN judged THEN the place decides what it is") {
  check(situation(phase::other).role(storage_role::host_copy).next_step(), category::inputs,
        evidence::inferred, "copied_from_host");
  check(situation(phase::setup).role(storage_role::host_copy).made_by(mark::module_move).alive(),
        category::weights, evidence::inferred, "moved_module");
  situation inside;
  inside.role(storage_role::host_copy);
  check(inside, category::temporaries, evidence::inferred, "within_call");
}

TEST_CASE("GIVEN a constant that autograd keeps WHEN judged THEN who made it decides") {
  check(situation(phase::other).saved(format::saved_leaf).next_step(), category::inputs,
        evidence::inferred, "constant_kept_by_autograd");
  check(situation().saved(format::saved_leaf).in_backward(), category::activations,
        evidence::annotated, "kept_by_autograd");
  situation trained(phase::other);  // part of the graph: not an input
  trained.saved(format::saved_leaf | format::saved_requires_grad).next_step();
  CHECK(trained.judged().what == category::activations);
}

TEST_CASE("GIVEN a tensor that autograd keeps WHEN its end is seen THEN that decides") {
  check(situation().saved().in_backward(), category::activations, evidence::annotated,
        "kept_by_autograd");
  check(situation().saved(), category::temporaries, evidence::inferred, "dropped_by_autograd");
  situation packed;  // by a hook that moves it away
  packed.saved(format::saved_packed).returned();
  check(packed, category::temporaries, evidence::inferred, "dropped_by_autograd");
  packed.in_backward();
  check(packed, category::activations, evidence::annotated, "kept_by_autograd");
}

TEST_CASE("GIVEN an activation that outlives backward WHEN backward is over THEN it is an output") {
  const auto logits = situation().saved().after_backward().judged();
  CHECK(logits.what == category::activations);
  CHECK(at_moment(logits, 0).rule == "kept_by_autograd");
  CHECK(at_moment(logits, 1).rule == "held_after_backward");
  CHECK(at_moment(logits, 1).what == category::outputs);
  CHECK(at_moment(logits, 1).how == evidence::inferred);
  const auto graph = situation().saved().in_backward().judged();
  CHECK(at_moment(graph, 1).rule == "kept_by_autograd");
}

TEST_CASE("GIVEN autocast's copy of a weight WHEN judged THEN it is an activation") {
  check(situation().role(storage_role::cast).in_backward(), category::activations,
        evidence::annotated, "autocast_copy");
  situation dropped;  // in a checkpointed region
  dropped.role(storage_role::cast);
  CHECK(dropped.judged().what == category::temporaries);
  dropped.block.named_by = storage_role::cast;  // of a weight that is trained: autocast keeps it
  dropped.block.role_flags = format::storage_trainable;
  check(dropped, category::activations, evidence::annotated, "autocast_copy");
}

TEST_CASE("GIVEN known functions WHEN judged THEN the origin decides") {
  const auto inferred = evidence::inferred;
  check(situation(phase::setup).made_by(mark::parameter_copy).alive(), category::weights, inferred,
        "deep_copied_parameter");
  check(situation(phase::setup).made_by(mark::tensor_copy | mark::object_copy).alive(),
        category::buffers, inferred, "deep_copied_buffer");
  check(situation(phase::setup).made_by(mark::module_building).next_step(), category::weights,
        inferred, "built_with_a_module");
  check(situation(phase::setup).made_by(mark::module_building), category::temporaries, inferred,
        "made_and_gone");
  check(situation(phase::setup).made_by(mark::gradient_bucket).alive(), category::gradients,
        inferred, "gradient_bucket");
  situation gathered;
  gathered.block.roles = attribution::gathered_parameter;
  check(gathered.saved().in_backward(), category::weights, inferred, "gathered_parameters");
  check(situation(phase::backward).made_by(mark::gradient_shard).after_backward(),
        category::gradients, inferred, "reduced_gradients");
  check(situation(phase::forward).made_by(mark::loss_scaler).next_step(), category::other, inferred,
        "loss_scaler");
  check(situation(phase::optimizer).made_by(mark::optimizer | mark::state_creation).alive(),
        category::optimizer_states, inferred, "state_creation");
}

TEST_CASE("GIVEN a block of cuBLAS' default size WHEN nothing recorded workspaces THEN it is one") {
  situation about;
  about.block.bytes = 8519680;
  about.returned().alive();
  check(about, category::workspace, evidence::inferred, "default_workspace");
  about.run.workspaces = true;
  CHECK(about.judged().what == category::outputs);
}

TEST_CASE("GIVEN nothing said WHEN judged THEN the passes decide: in the model") {
  const auto inferred = evidence::inferred;
  check(situation(), category::temporaries, inferred, "within_call");
  check(situation(phase::evaluation), category::temporaries, inferred, "within_call");
  check(situation().returned(), category::outputs, inferred, "outlives_call");
  check(situation(phase::evaluation).next_step(), category::outputs, inferred, "outlives_call");
  check(situation().in_backward(), category::activations, inferred, "freed_by_backward");
  check(situation(phase::evaluation).in_backward(), category::activations, inferred,
        "freed_by_backward");
  check(situation(phase::evaluation).made_by(mark::custom_function).after_backward(),
        category::activations, inferred, "held_by_function");
  check(situation(phase::evaluation).made_by(mark::custom_function).returned(), category::outputs,
        inferred, "outlives_call");
  situation loss;  // computed outside of modules
  loss.block.born.call = 0;
  loss.returned();
  check(loss, category::temporaries, inferred, "within_call");
  loss.after_backward();
  check(loss, category::outputs, inferred, "outlives_call");
}

TEST_CASE("GIVEN nothing said WHEN judged THEN the passes decide: in backward") {
  const auto inferred = evidence::inferred;
  check(situation(phase::backward), category::temporaries, inferred, "within_backward");
  situation outlives(phase::backward);
  ++outlives.end.passes.backwards_ended;
  check(outlives, category::gradients, inferred, "outlives_backward");
  situation recomputed(phase::backward);
  recomputed.block.born.recompute = true;
  recomputed.block.born.call = 2;
  recomputed.end.call_running = true;
  check(recomputed, category::temporaries, inferred, "within_recomputation");
  recomputed.saved().returned();
  check(recomputed, category::activations, evidence::annotated, "kept_by_autograd");
  situation inner(phase::backward);
  inner.block.roles = attribution::gradient_of_intermediate;
  check(inner, category::temporaries, inferred, "gradient_of_activation");
  ++inner.end.passes.backwards_ended;  // kept as .grad of what a module computed
  check(inner, category::gradients, evidence::annotated, "gradient_of_leaf");
}

TEST_CASE("GIVEN nothing said WHEN judged THEN the passes decide: in the optimizer") {
  const auto inferred = evidence::inferred;
  check(situation(phase::optimizer), category::temporaries, inferred, "within_optimizer");
  check(situation(phase::optimizer).next_step(), category::optimizer_states, inferred,
        "outlives_optimizer");
  situation norm(phase::optimizer);
  norm.made_by(mark::update_helper).next_step();
  check(norm, category::other, inferred, "outlives_its_pass");
}

TEST_CASE("GIVEN a result of a model WHEN calls go by THEN from the third on it is collected") {
  const auto inferred = evidence::inferred;
  for (const auto when : {phase::forward, phase::evaluation}) {
    situation features(when);
    features.block.born.call = 1;
    features.end.call_running = false;
    features.end.passes.calls = features.block.born.passes.calls + 2;
    check(features, category::outputs, inferred, "outlives_call");
    ++features.end.passes.calls;
    check(features, category::collected, inferred, "gathered_results");
  }
}

TEST_CASE("GIVEN nothing said WHEN judged THEN the passes decide: by the program") {
  const auto inferred = evidence::inferred;
  check(situation(phase::other), category::temporaries, inferred, "made_and_gone");
  check(situation(phase::other).next_step(), category::inputs, inferred, "made_for_the_model");
  check(situation(phase::setup).next_step(), category::inputs, inferred, "made_for_the_model");
  situation meter(phase::other);
  meter.end.passes.calls = 100;
  check(meter, category::collected, inferred, "held_for_long");
  situation statistics(phase::other);
  ++statistics.end.passes.optimizer_steps;
  check(statistics, category::other, inferred, "outlives_its_pass");
}

TEST_CASE("GIVEN a trace that ends in a pass WHEN judged THEN it is a guess") {
  check(situation().alive(), category::temporaries, evidence::inferred, "in_unfinished_call");
  CHECK(situation().alive().judged().guess);
  check(situation(phase::backward).alive(), category::temporaries, evidence::inferred,
        "in_unfinished_pass");
  check(situation(phase::optimizer).alive(), category::temporaries, evidence::inferred,
        "in_unfinished_pass");
  CHECK_FALSE(situation().judged().guess);
  CHECK_FALSE(situation().alive().saved().judged().guess);
}

TEST_CASE("GIVEN a block of which no pass tells anything WHEN judged THEN it is unknown") {
  const auto found = situation(phase::setup).alive().judged();
  CHECK(found.what == category::unknown);
  CHECK(found.how == evidence::unknown);
  CHECK(found.guess);
}

TEST_CASE("GIVEN the tables of rules WHEN listed THEN every name is there once") {
  std::set<std::string_view> names;
  for (const auto rules :
       {attribution::told_rules(), attribution::origin_rules(), attribution::lifetime_rules()}) {
    for (const auto& rule : rules) CHECK(names.insert(rule.name).second);
  }
}

TEST_CASE("GIVEN a library's cache WHEN its memory outlives the call THEN it is keys and values") {
  const auto joined = [](phase during) { return situation(during).made_by(mark::attention_cache); };
  check(joined(phase::evaluation).returned(), category::kv_cache, evidence::inferred,
        "attention_cache");
  // Handed to attention, and gone with the call.
  CHECK(joined(phase::evaluation).judged().what == category::temporaries);
  // Training: autograd keeps it too.
  CHECK(joined(phase::forward).returned().saved().judged().what == category::activations);
  // Beams are put in order between two calls.
  auto in_order = joined(phase::other);
  CHECK(in_order.judged().what == category::temporaries);
  in_order.end.passes.calls = 1;
  CHECK(in_order.judged().what == category::kv_cache);
}

TEST_CASE("GIVEN a buffer with a cache's name WHEN judged THEN it is keys and values") {
  situation named(phase::setup);
  named.role(storage_role::buffer).block.roles |= attribution::named_as_cache;
  check(named, category::kv_cache, evidence::inferred, "cache_by_name");
  CHECK(named.saved().judged().what == category::buffers);
  situation weight(phase::setup);
  weight.role(storage_role::parameter).block.roles |= attribution::named_as_cache;
  CHECK(weight.judged().what == category::weights);
}

TEST_CASE("GIVEN no optimizer of PyTorch's WHEN memory is as large as a parameter THEN states") {
  situation average(phase::setup);
  average.run.parameters = true;
  average.run.parameter_sizes = {average.block.bytes};
  average.after_backward().after_backward().alive();
  average.end.passes.calls = 2;
  check(average, category::optimizer_states, evidence::inferred, "as_large_as_parameters");
  auto other_size = average;
  other_size.block.bytes *= 2;
  CHECK(other_size.judged().what != category::optimizer_states);
  auto with_optimizer = average;
  with_optimizer.end.passes.optimizer_steps = 1;
  CHECK(with_optimizer.judged().what != category::optimizer_states);
  auto inference = average;
  inference.end.passes.backwards_ended = 0;
  CHECK(inference.judged().what != category::optimizer_states);
}

TEST_CASE("GIVEN a pipeline's stage WHEN it receives THEN activations are told from gradients") {
  situation received(phase::setup);
  received.made_by(mark::stage_buffer).block.roles |= attribution::received_by_stage;
  received.role(storage_role::leaf).role(storage_role::input).saved(format::saved_leaf);
  check(received, category::activations, evidence::inferred, "received_by_stage");
  situation gradients(phase::setup);
  gradients.made_by(mark::stage_buffer | mark::stage_gradient).block.roles |=
      attribution::received_by_stage;
  check(gradients.next_step(), category::other, evidence::inferred, "received_by_stage");
  situation sent(phase::backward);
  sent.block.roles |= attribution::gradient_to_send;
  check(sent.after_backward(), category::temporaries, evidence::inferred, "gradient_of_activation");
}
