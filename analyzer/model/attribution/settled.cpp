// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/settled.h"

#include <algorithm>
#include <string>
#include <vector>

namespace memtrace::attribution {

namespace {

constexpr std::size_t deepest_path = 64;  // modules; what is deeper belongs to none

[[nodiscard]] bool belongs_to_a_parameter(category what) {
  return what == category::weights || what == category::buffers || what == category::gradients ||
         what == category::optimizer_states;
}

}  // namespace

std::uint32_t module_rows::at(const module_place& named) {
  const module_place place{modules_.outermost(named.root), named.path};
  // From the root down, so that parents come first.
  std::vector<std::string_view> paths;
  for (auto path = place.path; !path.empty(); path = parent_path(path)) {
    if (paths.size() == deepest_path) return 0;
    paths.push_back(path);
  }
  paths.emplace_back();
  std::uint32_t row = 0;
  for (const auto path : std::vector(paths.rbegin(), paths.rend())) {
    const auto [known, is_new] = places_.try_emplace({place.root, path}, rows_.size());
    if (is_new) {
      module_row made;
      made.root = modules_.root_name(place.root);
      made.path = std::string(path);
      made.type = std::string(modules_.type_of({named.root, path}));
      made.parent = row;
      rows_.push_back(std::move(made));
    }
    row = known->second;
  }
  return row;
}

std::uint32_t module_rows::of(trace::object_id object) {
  const auto* const place = modules_.find(object);
  return place == nullptr ? 0 : at(*place);
}

std::uint32_t module_rows::of_parameter(trace::object_id root, std::string_view name) {
  return root ? at({root, parent_path(name)}) : 0;
}

void module_rows::add(std::uint32_t row, category what, std::uint64_t bytes,
                      bool attention_scores) {
  auto& found = rows_[row];
  found.bytes[what] += bytes;
  found.total += bytes;
  if (attention_scores) found.attention_scores += bytes;
}

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
  // For gradients it does: the module whose gradient was computed.
  const bool by_name_only = belongs_to_a_parameter(what) && what != category::gradients;
  return by_name_only ? 0 : rows_.of(block.where.module);
}

}  // namespace memtrace::attribution
