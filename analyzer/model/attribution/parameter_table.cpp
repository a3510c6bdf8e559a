// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/parameter_table.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace memtrace::attribution {

namespace {

constexpr std::size_t most_parameters = 1u << 20;
constexpr std::size_t most_optimizers = 64;   // whose models are looked for
constexpr std::size_t most_sizes = 16;        // of the states of one parameter
constexpr std::size_t most_flattened = 4096;  // each name without a parameter is compared with all

using storage_key = std::pair<std::uint64_t, std::uint64_t>;

[[nodiscard]] storage_key storage_of(const published_parameter& parameter) {
  return {parameter.address, parameter.born_event};
}

[[nodiscard]] parameter_row row_of(const published_parameter& parameter,
                                   const module_table& modules, const trace::dictionary& names) {
  parameter_row row;
  row.root = modules.root_name(parameter.root);
  row.name = std::string(names[parameter.name]);
  row.sharing = 0;
  row.dtype = std::string(names[parameter.dtype]);
  return row;
}

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
  auto& sizes = states_[{record.name, record.object}];
  if (sizes.size() < most_sizes) sizes.insert(record.bytes);
}

// The model most of whose parameters have the names that the optimizer's states have; of models
// with the same names that whose parameters are as large as states of theirs.
trace::object_id parameter_table::root_of_optimizer(trace::object_id optimizer) const {
  const auto known = roots_.find(optimizer.value);
  if (known != roots_.end()) return known->second;
  if (roots_.size() >= most_optimizers) return {};
  struct likeness {
    std::size_t same_names = 0;
    std::size_t same_sizes = 0;
    std::size_t all = 0;
  };
  std::map<trace::object_id, likeness> found;
  for (const auto& parameter : all_) {
    auto& root = found[parameter.root];
    ++root.all;
    const auto states = states_.find({parameter.name, optimizer});
    if (states == states_.end()) continue;
    ++root.same_names;
    if (states->second.contains(parameter.bytes)) ++root.same_sizes;
  }
  const auto better = [](const auto& a, const auto& b) {
    const auto& [one, other] = std::pair(a.second, b.second);
    if (one.same_names != other.same_names) return one.same_names < other.same_names;
    if (one.same_sizes != other.same_sizes) return one.same_sizes < other.same_sizes;
    return one.all > other.all;  // as few others as possible
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

std::vector<parameter_row> rows_of(const parameter_table& parameters,
                                   const std::vector<by_category<std::uint64_t>>& bytes,
                                   const module_table& modules, const trace::dictionary& names) {
  std::vector<parameter_row> rows;
  std::map<storage_key, std::size_t> places;
  for (std::size_t i = 0; i < parameters.all().size(); ++i) {
    const auto& parameter = parameters.all()[i];
    const auto [known, is_new] = places.try_emplace(storage_of(parameter), rows.size());
    if (is_new) rows.push_back(row_of(parameter, modules, names));
    auto& row = rows[known->second];
    ++row.sharing;
    row.trainable = row.trainable || parameter.trainable;
    row.weights += bytes[i][category::weights];
    row.gradients += bytes[i][category::gradients];
    row.optimizer_states += bytes[i][category::optimizer_states];
  }
  std::erase_if(rows, [](const parameter_row& row) {
    return row.weights + row.gradients + row.optimizer_states == 0;
  });
  return rows;
}

void sum_parameters(const parameter_table& parameters, result& run) {
  std::map<storage_key, std::pair<std::uint64_t, bool>> storages;  // bytes, trainable
  for (const auto& parameter : parameters.all()) {
    auto& [bytes, trainable] = storages[storage_of(parameter)];
    bytes = std::max(bytes, parameter.bytes);
    trainable = trainable || parameter.trainable;
  }
  run.parameters = storages.size();
  for (const auto& [storage, facts] : storages) {
    run.parameter_bytes += facts.first;
    if (facts.second) run.trainable_bytes += facts.first;
  }
}

}  // namespace memtrace::attribution
