// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/tensor_names.h"

namespace memtrace::agent {

bool tensor_names::follow(const recorder& to) noexcept {
  if (to.generation() == generation_) return false;
  names_.clear();
  of_root_.clear();
  generation_ = to.generation();
  return true;
}

void tensor_names::begin_root(std::uint64_t root) {
  forget_root(root);
  root_ = root;
  ++version_;
}

void tensor_names::add(std::uint64_t tensor, std::uint32_t name) {
  names_[tensor] = {name, root_};
  of_root_[root_].push_back(tensor);
}

void tensor_names::forget_root(std::uint64_t root) noexcept {
  const auto place = of_root_.find(root);
  if (place == of_root_.end()) return;
  for (const std::uint64_t tensor : place->second) {
    const auto name = names_.find(tensor);
    if (name != names_.end() && name->second.root == root) names_.erase(name);
  }
  of_root_.erase(place);
}

std::uint32_t tensor_names::find(std::uint64_t tensor) const noexcept {
  const auto place = names_.find(tensor);
  return place == names_.end() ? 0 : place->second.text;
}

namespace {
tensor_names& all_names = *new tensor_names;  // never destroyed: threads outlive exit()
}  // namespace

tensor_names& the_tensor_names() noexcept {
  return all_names;
}

}  // namespace memtrace::agent
