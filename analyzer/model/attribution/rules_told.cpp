// SPDX-License-Identifier: Apache-2.0
//
// Rules about what was said of a block. Their order is the precedence of the categories.
#include <array>

#include "analyzer/model/attribution/rules.h"

namespace memtrace::attribution {

namespace {

using format::storage_role;
using decision = std::optional<category>;

[[nodiscard]] decision when(bool applies, category what) {
  return applies ? decision(what) : std::nullopt;
}

[[nodiscard]] decision user_annotation(const rule_case& about) {
  const auto what = about.block.annotated_as;  // unknown: it was given a name only
  return when(about.block.has(storage_role::user) && what != category::unknown, what);
}

[[nodiscard]] decision parameter(const rule_case& about) {
  return when(about.block.has(storage_role::parameter), category::weights);
}

[[nodiscard]] decision parameter_copy(const rule_case& about) {
  return when(about.block.has(storage_role::copy), category::weights);
}

[[nodiscard]] decision gathered(const rule_case& about) {
  return when((about.block.roles & gathered_parameter) != 0, category::weights);
}

// For a stage of a pipeline what it receives is a leaf tensor: activations of the stage before, or
// gradients of the next stage's, which are neither .grad nor anything's state.
[[nodiscard]] decision received(const rule_case& about) {
  const bool kept = about.block.saved.times != 0 || about.block.has(storage_role::leaf);
  const bool forward = (about.marks.any & mark::stage_gradient) == 0;
  return when((about.block.roles & received_by_stage) != 0,
              forward && kept ? category::activations : category::other);
}

// A leaf tensor that receives gradients is trained, unless it is computed by a model (what
// re-entrant checkpointing detaches), or comes anew with every step beside a model's parameters
// (an input that is differentiated).
[[nodiscard]] bool is_trained_leaf(const rule_case& about) {
  if (!about.block.has(storage_role::leaf) || !made_by_program(about.block)) return false;
  if (!about.run.parameters) return true;
  return about.end.passes.optimizer_steps >= about.block.born.passes.optimizer_steps + 2;
}

[[nodiscard]] decision trained_leaf(const rule_case& about) {
  return when(is_trained_leaf(about), category::weights);
}

// Where autograd keeps them as well, as in training, they are activations.
[[nodiscard]] decision cache_by_name(const rule_case& about) {
  return when((about.block.roles & named_as_cache) != 0 && about.block.saved.times == 0,
              category::kv_cache);
}

[[nodiscard]] decision buffer(const rule_case& about) {
  return when(about.block.has(storage_role::buffer), category::buffers);
}

// Re-entrant checkpointing detaches what a module computed and lets an inner backward pass end
// there: such gradients are gone with the outer pass, others are held as .grad.
[[nodiscard]] decision gradient(const rule_case& about) {
  const auto& block = about.block;
  const bool outlives = about.end.passes.backwards_ended != block.born.passes.backwards_ended;
  const bool of_intermediate = (block.roles & gradient_of_intermediate) != 0 && outlives;
  return when(of_intermediate || block.has(storage_role::leaf_gradient) ||
                  block.has(storage_role::gradient),
              category::gradients);
}

[[nodiscard]] decision reduced_gradients(const rule_case& about) {
  return when((about.marks.any & mark::gradient_shard) != 0 && about.block.saved.times == 0,
              category::gradients);
}

[[nodiscard]] decision optimizer_state(const rule_case& about) {
  return when(about.block.has(storage_role::optimizer_state), category::optimizer_states);
}

[[nodiscard]] decision library_workspace(const rule_case& about) {
  return when(about.block.has(storage_role::workspace), category::workspace);
}

[[nodiscard]] decision model_input(const rule_case& about) {
  return when(about.block.has(storage_role::input) && made_by_program(about.block),
              category::inputs);
}

[[nodiscard]] decision differentiated_input(const rule_case& about) {
  return when(about.block.has(storage_role::leaf) && made_by_program(about.block),
              category::inputs);
}

// Models are loaded from the host, too: rules_origin.cpp knows those places.
[[nodiscard]] decision copied_from_host(const rule_case& about) {
  constexpr auto models = mark::module_building | mark::module_move | mark::parameter_copy;
  return when(about.block.has(storage_role::host_copy) && made_by_program(about.block) &&
                  (about.marks.any & models) == 0,
              category::inputs);
}

// Autograd keeps it, it takes no part in the graph, and no model computed it. In a forward pass
// outside of modules it may just as well be a mask that the loss computes.
[[nodiscard]] decision constant_kept_by_autograd(const rule_case& about) {
  const auto& saved = about.block.saved;
  const bool constant =
      (saved.always & format::saved_leaf) != 0 && (saved.ever & format::saved_requires_grad) == 0;
  return when(saved.times != 0 && constant && made_by_program(about.block) &&
                  about.block.born.during != phase::forward,
              category::inputs);
}

// Autocast keeps its copies of trained weights until its region ends, even in evaluation; those of
// frozen ones are gone after the operation, unless autograd keeps them.
[[nodiscard]] decision autocast_copy(const rule_case& about) {
  const bool cached = about.block.named_by == storage_role::cast &&
                      (about.block.role_flags & format::storage_trainable) != 0;
  return when(about.block.has(storage_role::cast) && (cached || !within_its_call(about)),
              category::activations);
}

// Inside a checkpointed region autograd drops what it keeps as soon as the region returns; a hook
// that takes a tensor away (packs it) may drop it at once.
[[nodiscard]] decision dropped_by_autograd(const rule_case& about) {
  const auto& block = about.block;
  if (block.saved.times == 0 || about.end.alive) return std::nullopt;
  const bool before_backward =
      about.end.passes.backwards_begun == block.born.passes.backwards_begun &&
      block.born.during != phase::backward;
  const bool packed = (block.saved.always & format::saved_packed) != 0 && before_backward;
  return when(within_its_call(about) || packed, category::temporaries);
}

[[nodiscard]] decision kept_by_autograd(const rule_case& about) {
  const bool is_scale = (about.marks.any & mark::loss_scaler) != 0;  // multiplies the loss
  return when(about.block.saved.times != 0 && !is_scale, category::activations);
}

constexpr std::array rules = {
    rule{rule_of_annotations, evidence::annotated, user_annotation},
    rule{"module_parameter", evidence::annotated, parameter},
    rule{"parameter_copy", evidence::annotated, parameter_copy},
    rule{"gathered_parameters", evidence::inferred, gathered},
    rule{"received_by_stage", evidence::inferred, received},
    rule{"trained_leaf", evidence::annotated, trained_leaf},
    rule{"cache_by_name", evidence::inferred, cache_by_name},
    rule{"module_buffer", evidence::annotated, buffer},
    rule{"gradient_of_leaf", evidence::annotated, gradient},
    rule{"reduced_gradients", evidence::inferred, reduced_gradients},
    rule{"optimizer_state", evidence::annotated, optimizer_state},
    rule{"library_workspace", evidence::annotated, library_workspace},
    rule{"model_input", evidence::annotated, model_input},
    rule{"differentiated_input", evidence::inferred, differentiated_input},
    rule{"copied_from_host", evidence::inferred, copied_from_host},
    rule{"constant_kept_by_autograd", evidence::inferred, constant_kept_by_autograd},
    rule{"autocast_copy", evidence::annotated, autocast_copy},
    rule{"dropped_by_autograd", evidence::inferred, dropped_by_autograd},
    rule{"kept_by_autograd", evidence::annotated, kept_by_autograd},
};

}  // namespace

std::span<const rule> told_rules() {
  return rules;
}

}  // namespace memtrace::attribution
