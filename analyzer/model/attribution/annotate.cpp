// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/annotate.h"

#include "analyzer/model/attribution/cache_names.h"
#include "analyzer/model/attribution/rules.h"

namespace memtrace::attribution {

using format::storage_role;

namespace {

// Which of several roles names a block; 0: none does.
[[nodiscard]] int naming_rank(storage_role role) {
  switch (role) {
    case storage_role::user:
      return 8;
    case storage_role::parameter:
      return 7;
    case storage_role::copy:
      return 6;
    case storage_role::buffer:
      return 5;
    case storage_role::leaf_gradient:  // knows the leaf, and so the model
      return 4;
    case storage_role::gradient:
      return 3;
    case storage_role::optimizer_state:
      return 2;
    case storage_role::workspace:
    case storage_role::cast:
      return 1;
    default:
      return 0;
  }
}

void name_by(block_life& block, const trace::storage_event& record, const block_life* leaf) {
  const auto rank = naming_rank(record.role);
  const auto before = naming_rank(block.named_by);
  if (rank == 0 || rank < before) return;
  // Of parameters that share a storage the first names it, until another root does.
  const bool shares =
      rank == before && record.role == storage_role::parameter && record.object == block.object;
  if (shares) {
    block.role_flags |= record.flags;
    return;
  }
  if (names_a_leaf(record.role)) {
    if (leaf == nullptr || leaf->named_by != storage_role::parameter) return;
    block.name = leaf->name;
    block.object = leaf->object;
  } else {
    if (!record.name) return;
    block.name = record.name;
    block.detail = record.detail;
    block.object = record.object;
  }
  block.named_by = record.role;
  block.role_flags = names_a_leaf(record.role) ? leaf->role_flags : record.flags;
}

// What a model computed, and no parameter: checkpointing detaches it and lets backward end there.
[[nodiscard]] bool is_intermediate(const block_life* leaf) {
  return leaf != nullptr && !made_by_program(*leaf) && !leaf->has(storage_role::parameter) &&
         !leaf->has(storage_role::copy) && (leaf->roles & gathered_parameter) == 0;
}

}  // namespace

bool names_a_leaf(storage_role role) {
  return role == storage_role::leaf_gradient || role == storage_role::cast;
}

void annotate(block_life& block, const trace::storage_event& record, const block_life* leaf,
              const trace::dictionary& names) {
  const bool by_program = (record.flags & (format::held_graph | format::held_gradient)) == 0;
  if (record.role == storage_role::held) {  // says what keeps it alive, not what it is
    if (by_program && names_keys_and_values(names[record.name])) block.roles |= named_as_cache;
    return;
  }
  if (record.role == storage_role::buffer && names_keys_and_values(names[record.name])) {
    block.roles |= named_as_cache;
  }
  if (record.role == storage_role::leaf_gradient && leaf != nullptr &&
      (leaf->roles & received_by_stage) != 0) {
    block.roles |= gradient_to_send;
    return;
  }
  if (record.role == storage_role::leaf_gradient && is_intermediate(leaf)) {
    block.roles |= gradient_of_intermediate;
    return;
  }
  block.roles |= bit_of(record.role);
  if (record.role == storage_role::user) {
    block.annotated_as = category_named(names[record.detail]).value_or(category::other);
  }
  name_by(block, record, leaf);
}

void annotate(block_life& block, const trace::saved_event& record, const pass_counts& now) {
  auto& saved = block.saved;
  if (saved.times == 0 || (saved.dimensions < 3 && record.dimensions >= 3)) {
    saved.bytes = record.bytes;
    saved.rows = record.rows;
    saved.columns = record.columns;
    saved.scalar_type = record.scalar_type;
    saved.dimensions = record.dimensions;
  }
  saved.always = saved.times == 0 ? record.flags : saved.always & record.flags;
  saved.ever |= record.flags;
  saved.backwards_ended = now.backwards_ended;
  ++saved.times;
}

}  // namespace memtrace::attribution
