// SPDX-License-Identifier: Apache-2.0
//
// How alike a number of intervals are, as bags of tokens: their weighted Jaccard similarity with
// the median interval, Σ min(count, median) / Σ max(count, median) over intervals and tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memtrace::attribution {

class interval_bags {
 public:
  explicit interval_bags(std::size_t tokens) : now_(tokens), counts_(tokens) {}

  void add(std::uint32_t token) {
    if (now_[token]++ == 0) touched_.push_back(token);
  }
  void close();  // the next token is the first of the next interval
  [[nodiscard]] double explained_by_median();

 private:
  std::vector<std::uint32_t> now_;
  std::vector<std::uint32_t> touched_;
  std::vector<std::vector<std::uint32_t>> counts_;  // by token, of the intervals that have it
  std::size_t intervals_ = 0;
};

// Most lengths are within a half of their median; those of a place that comes at random are not.
[[nodiscard]] bool are_regular(std::vector<std::size_t> lengths);

}  // namespace memtrace::attribution
