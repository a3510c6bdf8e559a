// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/parameter_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace memtrace::attribution {

namespace {

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
