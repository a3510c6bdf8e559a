// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/settled.h"

namespace memtrace::attribution {

namespace {

[[nodiscard]] bool belongs_to_a_parameter(category what) {
  return what == category::weights || what == category::buffers || what == category::gradients ||
         what == category::optimizer_states;
}

}  // namespace

classification settled_blocks::classification_of(const kept_block& block) const {
  auto known = block;
  with_.run.known.improve(known);
  return known.found;
}

std::uint32_t settled_blocks::row_of(const kept_block& block,
                                     const published_parameter** parameter) {
  const auto what = block.found.what;
  if (belongs_to_a_parameter(what) && block.name) {
    const bool is_state = block.named_by == format::storage_role::optimizer_state;
    if (what == category::buffers) {
      return rows_.of_parameter(block.object, with_.run.names[block.name]);
    }
    const auto* const found = with_.parameters.find(block.name, block.object, is_state);
    if (found != nullptr) {
      if (parameter != nullptr) *parameter = found;
      return rows_.of_parameter(found->root, with_.run.names[found->name]);
    }
  }
  // Weights and states have a module by name only: what ran when they were made says nothing.
  // Of gradients it does: the module whose gradient was computed.
  const bool by_name_only = belongs_to_a_parameter(what) && what != category::gradients;
  return by_name_only ? 0 : rows_.of(block.where.module);
}

}  // namespace memtrace::attribution
