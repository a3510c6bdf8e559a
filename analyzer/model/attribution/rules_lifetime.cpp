// SPDX-License-Identifier: Apache-2.0
//
// Rules about when a block was made and freed; for those of which nothing was said.
#include <array>

#include "analyzer/model/attribution/rules.h"

namespace memtrace::attribution {

namespace {

using decision = std::optional<category>;

[[nodiscard]] decision when(bool applies, category what) {
  return applies ? decision(what) : std::nullopt;
}

[[nodiscard]] bool born_in(const rule_case& about, phase during) {
  return about.block.born.during == during;
}

[[nodiscard]] bool in_model(const rule_case& about) {
  return born_in(about, phase::forward) || born_in(about, phase::evaluation);
}

[[nodiscard]] bool same_backward(const rule_case& about) {
  const auto& then = about.block.born.passes;
  const auto& now = about.end.passes;
  return then.backwards_begun == now.backwards_begun && then.backwards_ended == now.backwards_ended;
}

[[nodiscard]] bool same_step(const rule_case& about) {
  return about.block.born.passes.optimizer_steps == about.end.passes.optimizer_steps;
}

// No pass of any kind began in between.
[[nodiscard]] bool same_stretch(const rule_case& about) {
  return same_backward(about) && same_step(about) &&
         about.block.born.passes.calls == about.end.passes.calls;
}

[[nodiscard]] decision within_call(const rule_case& about) {
  const bool within = within_its_call(about);
  const bool outside_modules = about.block.born.call == 0 && same_stretch(about);
  return when(in_model(about) && (within || (outside_modules && !about.end.alive)),
              category::temporaries);
}

[[nodiscard]] decision within_recomputation(const rule_case& about) {
  return when(about.block.born.recompute && within_its_call(about), category::temporaries);
}

[[nodiscard]] decision within_backward(const rule_case& about) {
  return when(born_in(about, phase::backward) && same_backward(about) && !about.end.alive,
              category::temporaries);
}

// The gradient of a tensor that re-entrant checkpointing detaches, see gradient_of_leaf; or of one
// that a pipeline's stage got.
[[nodiscard]] decision gradient_of_activation(const rule_case& about) {
  constexpr auto of_computed = gradient_of_intermediate | gradient_to_send;
  return when((about.block.roles & of_computed) != 0, category::temporaries);
}

// torch.autograd.grad: the program holds the gradients itself.
[[nodiscard]] decision outlives_backward(const rule_case& about) {
  return when(born_in(about, phase::backward) && !same_backward(about), category::gradients);
}

[[nodiscard]] decision within_optimizer(const rule_case& about) {
  return when(born_in(about, phase::optimizer) && same_step(about) && !about.end.alive,
              category::temporaries);
}

[[nodiscard]] decision outlives_optimizer(const rule_case& about) {
  const bool running = same_step(about) && about.end.during == phase::optimizer;
  return when(
      born_in(about, phase::optimizer) && !running && (about.marks.any & mark::update_helper) == 0,
      category::optimizer_states);
}

// Kept for backward by other means than autograd's. Functions run without recording gradients.
[[nodiscard]] decision freed_by_backward(const rule_case& about) {
  const bool next_one = about.end.passes.backwards_ended == about.block.born.passes.backwards_ended;
  const bool in_forward =
      born_in(about, phase::forward) || (born_in(about, phase::evaluation) && next_one);
  return when(in_forward && about.end.in_backward, category::activations);
}

// On the context of a custom Function, for as long as the graph is there. Checkpointing is one,
// and what comes out of it is the model's.
// Tensors that compiled code keeps go through autograd's own list.
[[nodiscard]] decision held_by_function(const rule_case& about) {
  const bool in_function = (about.marks.any & mark::custom_function) != 0 &&
                           (about.marks.any & (mark::checkpoint | mark::compiled_forward)) == 0;
  const bool trained = about.end.passes.backwards_begun != about.block.born.passes.backwards_begun;
  return when(in_model(about) && in_function && trained && !about.end.call_running,
              category::activations);
}

// A loop's variable holds the result of the call before, and sometimes that of the one before it.
constexpr std::uint32_t calls_of_a_result = 3;

[[nodiscard]] std::uint32_t calls_since(const rule_case& about) {
  return about.end.passes.calls - about.block.born.passes.calls;
}

// Lists of logits, features, embeddings, losses.
[[nodiscard]] decision gathered_results(const rule_case& about) {
  return when(in_model(about) && !within_its_call(about) && calls_since(about) >= calls_of_a_result,
              category::collected);
}

[[nodiscard]] decision outlives_call(const rule_case& about) {
  const bool returned = about.block.born.call != 0 && !about.end.call_running;
  const bool outside_modules = about.block.born.call == 0 && !same_stretch(about);
  return when(in_model(about) && (returned || outside_modules), category::outputs);
}

[[nodiscard]] decision made_and_gone(const rule_case& about) {
  return when(!in_model(about) && !about.end.alive && same_stretch(about), category::temporaries);
}

// Memory that the program makes between steps and that lives while the model runs is handed to
// it, or held by the program for long.
constexpr std::uint32_t calls_of_an_input = 8;

// In a program that trains without an optimizer of PyTorch's: what it makes beforehand in the sizes
// of parameters, and still has when it has trained twice, it keeps for them.
[[nodiscard]] decision as_large_as_parameters(const rule_case& about) {
  const auto& block = about.block;
  const auto trained = about.end.passes.backwards_ended - block.born.passes.backwards_ended;
  return when(made_by_program(block) && born_in(about, phase::setup) && trained >= 2 &&
                  about.end.passes.optimizer_steps == 0 &&
                  !block.has(format::storage_role::host_copy) &&
                  about.run.parameter_sizes.contains(block.bytes),
              category::optimizer_states);
}

[[nodiscard]] decision held_for_long(const rule_case& about) {
  return when(made_by_program(about.block) && calls_since(about) > calls_of_an_input &&
                  !born_in(about, phase::setup) && !born_in(about, phase::forward),
              category::collected);
}

[[nodiscard]] decision made_for_the_model(const rule_case& about) {
  return when(
      made_by_program(about.block) && calls_since(about) != 0 && !born_in(about, phase::forward),
      category::inputs);
}

[[nodiscard]] decision outlives_its_pass(const rule_case& about) {
  return when(!same_stretch(about), category::other);
}

// The trace ended (out of memory, killed) while the pass that made them ran.
[[nodiscard]] decision in_unfinished_call(const rule_case& about) {
  return when(about.end.alive && (in_model(about) || about.block.born.recompute),
              category::temporaries);
}

[[nodiscard]] decision in_unfinished_pass(const rule_case& about) {
  return when(
      about.end.alive && (born_in(about, phase::backward) || born_in(about, phase::optimizer)),
      category::temporaries);
}

constexpr std::array rules = {
    rule{"within_call", evidence::inferred, within_call},
    rule{"within_recomputation", evidence::inferred, within_recomputation},
    rule{"gradient_of_activation", evidence::inferred, gradient_of_activation},
    rule{"within_backward", evidence::inferred, within_backward},
    rule{"outlives_backward", evidence::inferred, outlives_backward, true},
    rule{"within_optimizer", evidence::inferred, within_optimizer},
    rule{"outlives_optimizer", evidence::inferred, outlives_optimizer, true},
    rule{"freed_by_backward", evidence::inferred, freed_by_backward},
    rule{"held_by_function", evidence::inferred, held_by_function},
    rule{"gathered_results", evidence::inferred, gathered_results},
    rule{"outlives_call", evidence::inferred, outlives_call},
    rule{"made_and_gone", evidence::inferred, made_and_gone},
    rule{"as_large_as_parameters", evidence::inferred, as_large_as_parameters, true},
    rule{"held_for_long", evidence::inferred, held_for_long},
    rule{"made_for_the_model", evidence::inferred, made_for_the_model, true},
    rule{"outlives_its_pass", evidence::inferred, outlives_its_pass, true},
    rule{"in_unfinished_call", evidence::inferred, in_unfinished_call, true},
    rule{"in_unfinished_pass", evidence::inferred, in_unfinished_pass, true},
};

}  // namespace

std::span<const rule> lifetime_rules() {
  return rules;
}

}  // namespace memtrace::attribution
