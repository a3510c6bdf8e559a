// SPDX-License-Identifier: Apache-2.0
//
// What a block was after all: asked once the whole trace was read, when the places that blocks come
// from are known, and the modules by their names.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/attribution/compose.h"
#include "analyzer/model/attribution/kept_block.h"
#include "analyzer/model/attribution/module_rows.h"

namespace memtrace::attribution {

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
