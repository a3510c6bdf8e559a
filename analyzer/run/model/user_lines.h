// SPDX-License-Identifier: Apache-2.0
//
// Call sites folded to lines of models: what a person can act on.
//
//   torch/nn/modules/linear.py:134 Linear.forward   ┐ PyTorch's frames, folded into
//   torch/nn/modules/module.py:1775 _call_impl      ┘ "via linear.py:134 Linear.forward"
//   model.py:31 forward     ◄── the row: the innermost frame that is not PyTorch's
//   train.py:88 main        ◄── "from train.py:88 main", where the row is a library's
//
// Memory of a backward pass belongs to the line whose gradient it computes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/run/model/model.h"

namespace memtrace::run {

struct user_line {
  std::string where;  // "model.py:31 forward", or what is known without such a frame
  std::string from;   // the user's line that led there, where that is another; else empty
  std::string via;    // PyTorch's code in which it happened; empty: none
  std::string with;   // compiled: other lines of the same kernel; else empty
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  attribution::category what = attribution::category::unknown;
  std::uint64_t recomputed = 0;        // of the bytes
  std::uint64_t attention_scores = 0;  // of the bytes
};

// One for each line and category, most bytes first. Files are named by as few of their last
// components as tell them apart.
[[nodiscard]] std::vector<user_line> fold_to_user_lines(const std::vector<call_site>& sites);

// "train.py:18", "libcache.so put", "backward of model.py:31"; empty: no line of the program is known.
[[nodiscard]] std::string place_of_user(const std::vector<code::source_frame>& frames,
                                        const std::vector<code::source_frame>& forward);
// " at train.py:18", " in the backward of model.py:31"
[[nodiscard]] std::string at_line(const std::vector<code::source_frame>& frames,
                                  const std::vector<code::source_frame>& forward);

// "200 blocks of serve.cpp:9 handle (200 MiB) were never freed": of what CUDA calls alone got, the
// line that has most at the end of those that made several. Whether they were meant to stay, or each
// request leaves one behind, no step tells. Empty: there is none.
[[nodiscard]] std::string kept_by_calls(const device_report& device);

}  // namespace memtrace::run
