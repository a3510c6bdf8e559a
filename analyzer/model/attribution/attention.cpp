// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/attention.h"

#include <algorithm>
#include <cstddef>

namespace memtrace::attribution {

namespace {

constexpr std::size_t most_places = 1u << 20;
constexpr std::uint32_t least_dimensions = 3;

[[nodiscard]] bool is_softmax_node(std::string_view name) {
  return name.starts_with("SoftmaxBackward") || name.starts_with("SafeSoftmaxBackward");
}

[[nodiscard]] bool may_be_scores(const kept_block& block) {
  return block.found.what == category::activations && block.where.module &&
         block.saved.dimensions >= least_dimensions;
}

}  // namespace

void softmax_calls::on_allocation(const trace::scope& scope) {
  if (!scope.node || !scope.module || !scope.forward) return;
  auto known = nodes_.find(scope.node.value);
  if (known == nodes_.end()) {
    known = nodes_.emplace(scope.node.value, is_softmax_node(names_[scope.node])).first;
  }
  if (!known->second || places_.size() >= most_places) return;
  places_.emplace(scope.module.value, scope.forward.value);
}

score_shapes::shape score_shapes::shape_of(const kept_block& block, const module_place& where) {
  const auto [less, more] = std::minmax(block.saved.rows, block.saved.columns);
  return {where, less, more};
}

void score_shapes::learn(const kept_block& block, const module_place& where,
                         const softmax_calls& calls, frame_marks& marks) {
  if (!may_be_scores(block)) return;
  const trace::stack_id stack{block.where.site.is_thread ? 0 : block.where.site.number};
  if ((marks[stack].any & mark::softmax) != 0 || calls.contains(block.where.module, stack)) {
    shapes_.insert(shape_of(block, where));
  }
}

bool score_shapes::are_scores(const kept_block& block, const module_place& where) const {
  if (!may_be_scores(block)) return false;
  if (shapes_.contains(shape_of(block, where))) return true;
  return !where.path.empty() &&
         shapes_.contains(shape_of(block, {where.root, parent_path(where.path)}));
}

}  // namespace memtrace::attribution
