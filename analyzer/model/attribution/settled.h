// SPDX-License-Identifier: Apache-2.0
//
// The category that a block has after all: asked once the whole trace was read, when the places
// that blocks come from are known, and the modules by their names.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/model/attribution/compose.h"
#include "analyzer/model/attribution/kept_block.h"
#include "analyzer/model/attribution/module_table.h"
#include "analyzer/model/attribution/result.h"

namespace memtrace::attribution {

// The rows of a composition's module tree, made as they are needed, parents first.
class module_rows {
 public:
  explicit module_rows(const module_table& modules) : modules_(modules), rows_(1) {}

  // The row of a module that ran; 0 where the agent never named it.
  [[nodiscard]] std::uint32_t of(trace::object_id object);
  // The row of the module that has a parameter of this name (a path in its model).
  [[nodiscard]] std::uint32_t of_parameter(trace::object_id root, std::string_view name);

  void add(std::uint32_t row, category what, std::uint64_t bytes, bool attention_scores);
  [[nodiscard]] std::vector<module_row> take() { return std::move(rows_); }

 private:
  [[nodiscard]] std::uint32_t at(const module_place& named);

  const module_table& modules_;
  std::vector<module_row> rows_;
  std::map<module_place, std::uint32_t> places_;
};

class settled_blocks {
 public:
  explicit settled_blocks(const composer& with) : with_(with), rows_(with.modules) {}

  // A guess gives way to what most blocks from the same place are. at_moment() applies to it still.
  [[nodiscard]] classification classification_of(const kept_block& block) const;

  // The row of the module that a block belongs to, made if need be; 0: none. `block.found` must be
  // as of the moment that is meant. `parameter`: the one that it belongs to; null: none.
  [[nodiscard]] std::uint32_t row_of(const kept_block& block,
                                     const published_parameter** parameter = nullptr);
  [[nodiscard]] module_rows& rows() { return rows_; }

 private:
  const composer& with_;
  module_rows rows_;
};

}  // namespace memtrace::attribution
