// SPDX-License-Identifier: Apache-2.0
//
// What memtrace knows of a block, as PyTorch's `user_metadata` of its events, which the viewer
// shows below the block's size and searches:
//
//   category: weights; name: layers.0.attn.weight; module: Net.layers.0.attn; phase: setup
//
// and the name of its category, by which the viewer colours it. Each text is in the file once.
#pragma once

#include <map>
#include <utility>

#include "analyzer/export/formats/sink.h"
#include "analyzer/export/formats/snapshot/pickle_file.h"

namespace memtrace::exporting {

class block_words {
 public:
  block_words(const process& from, pickle_file& to) : from_(from), to_(to) {}

  [[nodiscard]] pickle::memo of(const block& one);
  [[nodiscard]] pickle::memo category_of(const block& one);

 private:
  const process& from_;
  pickle_file& to_;
  std::map<std::pair<const history::fate*, attribution::category>, pickle::memo> known_;
  attribution::by_category<pickle::memo> categories_{};  // 0: not written yet
};

}  // namespace memtrace::exporting
