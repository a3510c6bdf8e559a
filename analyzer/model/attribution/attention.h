// SPDX-License-Identifier: Apache-2.0
//
// Which activations are stored attention scores: quadratic in the sequence length.
//
// A softmax in a module, over a tensor of three dimensions or more whose last two are r × c, makes
// all that autograd keeps in that module with the same last two dimensions (either way around)
// scores: what goes into the softmax, what comes out of it, and dropout's mask and result; so it does
// in the modules right inside, as dropout is one. Feature maps of convolutions have no softmax in
// their module, and other dimensions where they do.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analyzer/model/attribution/frame_marks.h"
#include "analyzer/model/attribution/kept_block.h"
#include "analyzer/model/attribution/module_table.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::attribution {

// Where softmax ran, as the autograd nodes of backward passes tell.
class softmax_calls {
 public:
  explicit softmax_calls(const trace::dictionary& names) : names_(names) {}
  void on_allocation(const trace::scope& scope);
  [[nodiscard]] bool contains(trace::object_id module, trace::stack_id stack) const {
    return places_.contains({module.value, stack.value});
  }

 private:
  const trace::dictionary& names_;
  std::unordered_map<std::uint32_t, bool> nodes_;  // by name: whether it is a softmax's
  std::set<std::pair<std::uint32_t, std::uint32_t>> places_;
};

// The shapes of the scores among the blocks of one moment.
class score_shapes {
 public:
  // For all blocks first, and then ask.
  // `where`: the block's module.
  void learn(const kept_block& block, const module_place& where, const softmax_calls& calls,
             frame_marks& marks);
  [[nodiscard]] bool are_scores(const kept_block& block, const module_place& where) const;

 private:
  using shape = std::tuple<module_place, std::uint64_t, std::uint64_t>;  // rows, columns
  [[nodiscard]] static shape shape_of(const kept_block& block, const module_place& where);

  std::set<shape> shapes_;
};

}  // namespace memtrace::attribution
