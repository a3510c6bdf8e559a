// SPDX-License-Identifier: Apache-2.0
//
// The parameters that the agent published, by model and name, and which of them share a storage.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/model/attribution/block_life.h"
#include "analyzer/model/attribution/module_table.h"
#include "analyzer/model/attribution/result.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::attribution {

struct published_parameter {
  trace::object_id root;
  trace::text_id name;
  trace::text_id dtype;
  bool trainable = false;
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;     // of its storage, when it was published last
  std::uint64_t born_event = 0;  // of the block there; 0: in no block that is known
};

class parameter_table {
 public:
  explicit parameter_table(const trace::dictionary& names) : names_(names) {}

  // `block`: where it lives; null where not known.
  void publish(const trace::storage_event& record, const block_life* block);
  void publish_state(const trace::storage_event& record);

  [[nodiscard]] const std::vector<published_parameter>& all() const { return all_; }
  // The parameter that names a block of weights or gradients (`object`: its model, or none), or,
  // with `is_state`, the one whose state a block is (`object`: the optimizer). Null: none known.
  [[nodiscard]] const published_parameter* find(trace::text_id name, trace::object_id object,
                                                bool is_state) const;

 private:
  using key = std::pair<trace::text_id, trace::object_id>;
  [[nodiscard]] trace::object_id root_of_optimizer(trace::object_id optimizer) const;
  [[nodiscard]] const published_parameter* find_flattened(trace::text_id name,
                                                          trace::object_id root) const;

  const trace::dictionary& names_;
  std::vector<published_parameter> all_;
  std::map<key, std::size_t> places_;
  std::vector<std::size_t> flattened_;  // several in one storage, named lstm.*
  // Bytes of the published ones, by parameter's name and optimizer.
  std::map<key, std::set<std::uint64_t>> states_;
  // By optimizer, worked out when first asked for.
  mutable std::unordered_map<std::uint32_t, trace::object_id> roots_;
};

// The parameters of the models as rows of a report, one for each storage.
// `bytes`: of each of parameters.all() on a device. Parameters without any are left out.
[[nodiscard]] std::vector<parameter_row> rows_of(
    const parameter_table& parameters, const std::vector<by_category<std::uint64_t>>& bytes,
    const module_table& modules, const trace::dictionary& names);

// Into the totals of the run.
void sum_parameters(const parameter_table& parameters, result& run);

}  // namespace memtrace::attribution
