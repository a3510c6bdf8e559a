// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/parameter_table.h"

#include <algorithm>

namespace memtrace::attribution {

namespace {

constexpr std::size_t most_parameters = 1u << 20;
constexpr std::size_t most_optimizers = 64;   // whose models are looked for
constexpr std::size_t most_flattened = 4096;  // each name without a parameter is compared with all

}  // namespace

void parameter_table::publish(const trace::storage_event& record, const block_life* block) {
  if (!record.name) return;
  const auto [place, is_new] = places_.try_emplace({record.name, record.object}, all_.size());
  if (is_new) {
    if (all_.size() >= most_parameters) {
      places_.erase(place);
      return;
    }
    if (names_[record.name].ends_with('*') && flattened_.size() < most_flattened)
      flattened_.push_back(all_.size());
    all_.emplace_back();
  }
  auto& known = all_[place->second];
  known.root = record.object;
  known.name = record.name;
  known.dtype = record.detail;
  known.trainable = (record.flags & format::storage_trainable) != 0;
  known.bytes = record.bytes;
  known.address = record.address;
  known.born_event = block == nullptr ? 0 : block->born_event;
}

void parameter_table::publish_state(const trace::storage_event& record) {
  if (!record.name || states_.size() >= most_parameters) return;
  ++states_[{record.name, record.object}];
}

// The model most of whose parameters have the names that the optimizer's states have.
trace::object_id parameter_table::root_of_optimizer(trace::object_id optimizer) const {
  const auto known = roots_.find(optimizer.value);
  if (known != roots_.end()) return known->second;
  if (roots_.size() >= most_optimizers) return {};
  std::map<trace::object_id, std::pair<std::size_t, std::size_t>> found;  // same names, all
  for (const auto& parameter : all_) {
    auto& [same, all] = found[parameter.root];
    ++all;
    if (states_.contains({parameter.name, optimizer})) ++same;
  }
  const auto better = [](const auto& a, const auto& b) {
    const auto& [same_a, all_a] = a.second;
    const auto& [same_b, all_b] = b.second;
    // As many names of its own as possible, then as few others as possible.
    return same_a != same_b ? same_a < same_b : all_a > all_b;
  };
  const auto best = std::ranges::max_element(found, better);
  const auto root = best == found.end() ? trace::object_id{} : best->first;
  roots_.emplace(optimizer.value, root);
  return root;
}

const published_parameter* parameter_table::find(trace::text_id name, trace::object_id object,
                                                 bool is_state) const {
  if (!name) return nullptr;
  const auto root = is_state ? root_of_optimizer(object) : object;
  const auto exact = places_.find({name, root});
  if (exact != places_.end()) return &all_[exact->second];
  const auto any = places_.lower_bound({name, trace::object_id{}});
  if (any != places_.end() && any->first.first == name) return &all_[any->second];
  return find_flattened(name, root);
}

const published_parameter* parameter_table::find_flattened(trace::text_id name,
                                                           trace::object_id root) const {
  const published_parameter* best = nullptr;
  std::size_t longest = 0;
  for (const auto index : flattened_) {
    const auto& candidate = all_[index];
    if (root && candidate.root != root) continue;
    auto start = names_[candidate.name];
    start.remove_suffix(1);
    if (!names_[name].starts_with(start) || (best != nullptr && start.size() <= longest)) continue;
    best = &candidate;
    longest = start.size();
  }
  return best;
}

}  // namespace memtrace::attribution
