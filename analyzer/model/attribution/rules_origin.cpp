// SPDX-License-Identifier: Apache-2.0
//
// Rules about the functions that made a block.
#include <algorithm>
#include <array>

#include "analyzer/model/attribution/rules.h"

namespace memtrace::attribution {

namespace {

using decision = std::optional<category>;

[[nodiscard]] decision when(bool applies, category what) {
  return applies ? decision(what) : std::nullopt;
}

// A tensor that is joined to what was there lives on; one that is only handed to attention does
// not.
[[nodiscard]] decision attention_cache(const rule_case& about) {
  const auto& block = about.block;
  const bool gone_at_once =
      block.born.call == 0 && about.end.passes.calls == block.born.passes.calls;
  const bool brief = !about.end.alive && (within_its_call(about) || gone_at_once);
  return when((about.marks.any & mark::attention_cache) != 0 && !brief, category::kv_cache);
}

// Module.to, .cuda, .half make every parameter and buffer anew. Of modules that are never called
// (or not yet) the agent says nothing.
[[nodiscard]] decision moved_module(const rule_case& about) {
  return when((about.marks.innermost & mark::module_move) != 0, category::weights);
}

[[nodiscard]] decision deep_copied_parameter(const rule_case& about) {
  return when((about.marks.innermost & mark::parameter_copy) != 0, category::weights);
}

// A tensor among the attributes of a copied object that is no parameter: a module's buffer.
[[nodiscard]] decision deep_copied_buffer(const rule_case& about) {
  constexpr auto copy = mark::tensor_copy | mark::object_copy;
  return when((about.marks.any & copy) == copy && (about.marks.any & mark::parameter_copy) == 0,
              category::buffers);
}

// Constructors and loaders also make temporaries: those are gone before the model first runs.
[[nodiscard]] decision built_with_a_module(const rule_case& about) {
  constexpr auto building = mark::module_building | mark::module_move | mark::parameter_copy;
  const bool stayed = about.end.alive || about.end.passes.calls != about.block.born.passes.calls;
  return when((about.marks.any & building) != 0 && made_by_program(about.block) && stayed,
              category::weights);
}

[[nodiscard]] decision gradient_bucket(const rule_case& about) {
  return when((about.marks.innermost & mark::gradient_bucket) != 0 && !within_its_call(about),
              category::gradients);
}

[[nodiscard]] decision loss_scaler(const rule_case& about) {
  return when((about.marks.any & mark::loss_scaler) != 0, category::other);
}

[[nodiscard]] decision state_creation(const rule_case& about) {
  const bool brief = !about.end.alive &&
                     about.end.passes.optimizer_steps == about.block.born.passes.optimizer_steps;
  return when((about.marks.any & mark::state_creation) != 0 && !brief, category::optimizer_states);
}

// PyTorch's default workspaces of cuBLAS: before compute capability 9, and from there on.
constexpr std::array<std::uint64_t, 2> cublas_workspaces = {4096 * 1024 * 2 + 16 * 1024 * 8,
                                                            4096 * 8 * 1024};

// They stay for as long as the process does. Where the recorder saw none handed over.
[[nodiscard]] decision default_workspace(const rule_case& about) {
  const bool fits =
      std::ranges::find(cublas_workspaces, about.block.bytes) != cublas_workspaces.end();
  return when(fits && about.end.alive && !about.end.call_running && !about.run.workspaces &&
                  !made_by_program(about.block),
              category::workspace);
}

constexpr std::array rules = {
    rule{"attention_cache", evidence::inferred, attention_cache},
    rule{"moved_module", evidence::inferred, moved_module},
    rule{"deep_copied_parameter", evidence::inferred, deep_copied_parameter},
    rule{"deep_copied_buffer", evidence::inferred, deep_copied_buffer},
    rule{"built_with_a_module", evidence::inferred, built_with_a_module},
    rule{"gradient_bucket", evidence::inferred, gradient_bucket},
    rule{"loss_scaler", evidence::inferred, loss_scaler},
    rule{"state_creation", evidence::inferred, state_creation},
    rule{"default_workspace", evidence::inferred, default_workspace},
};

}  // namespace

std::span<const rule> origin_rules() {
  return rules;
}

}  // namespace memtrace::attribution
