// SPDX-License-Identifier: Apache-2.0
//
// Call sites as growth is told by them: the two innermost frames of the user's own code. Library
// frames below them vary with sizes and versions, frames above with who called. Memory made in
// backward is told by the line whose gradient it was made for, as a site of its own: what keeps the
// gradients of a line does not keep its activations. So is what a line makes while a CUDA graph is
// captured: the graph's replays need it.
//
//   torch/nn/functional.py linear  ┐
//   torch/nn/modules/linear.py     ┘ left out
//   model.py:31 forward            ┐ the site
//   train.py:88 train              ┘
//   train.py:120 main                left out
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/model/attribution/block_life.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::verdicts {

class site_names {
 public:
  explicit site_names(const trace::dictionary& names) : names_(names) {}

  // From 0, in the order in which they are first met.
  [[nodiscard]] std::uint32_t of(const attribution::block_life& block);
  [[nodiscard]] std::size_t count() const { return numbers_.size(); }

 private:
  struct place {
    bool known = false;
    bool user = false;  // has frames of the user's code
    std::uint32_t site = 0;
    std::uint32_t of_gradients = 0;  // the site of what backward makes for this line
    std::uint32_t of_graphs = 0;     // of what the line makes for CUDA graphs
  };
  // File, function and line of both frames; a thread, or one of the marks in sites.cpp.
  using key = std::array<std::uint32_t, 7>;

  [[nodiscard]] const place& of_stack(trace::stack_id stack);
  [[nodiscard]] place learn(trace::stack_id stack);
  [[nodiscard]] std::uint32_t number_of(const key& frames);

  const trace::dictionary& names_;
  std::vector<place> by_stack_;
  std::vector<place> by_thread_;
  std::map<key, std::uint32_t> numbers_;
};

}  // namespace memtrace::verdicts
