// SPDX-License-Identifier: Apache-2.0
//
// The rows of a composition's module tree, made as they are needed, parents first.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/model/attribution/module_table.h"
#include "analyzer/model/attribution/result.h"

namespace memtrace::attribution {

class module_rows {
 public:
  explicit module_rows(const module_table& modules) : modules_(modules), rows_(1) {}

  // Of a module that ran; 0 where the agent never named it.
  [[nodiscard]] std::uint32_t of(trace::object_id object);
  // Of the module that has a parameter of this name (a path in its model).
  [[nodiscard]] std::uint32_t of_parameter(trace::object_id root, std::string_view name);

  void add(std::uint32_t row, category what, std::uint64_t bytes, bool attention_scores);
  [[nodiscard]] std::vector<module_row> take() { return std::move(rows_); }

 private:
  [[nodiscard]] std::uint32_t at(const module_place& named);

  const module_table& modules_;
  std::vector<module_row> rows_;
  std::map<module_place, std::uint32_t> places_;
};

}  // namespace memtrace::attribution
