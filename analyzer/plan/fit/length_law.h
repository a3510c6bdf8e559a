// SPDX-License-Identifier: Apache-2.0
//
// The memory in use at once at lengths that were not tried: least squares through that at lengths
// which were, at the largest batch and at half of it.
//
//   constant + batch · (item + token · length + token_squared · length²)
//
// Attention that keeps its scores has a quadratic term, fused attention has none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/plan/fit/plan.h"

namespace memtrace::fit {

struct length_law {
  std::string name;  // of the GPU and the variant
  std::vector<std::uint64_t> lengths;
  double constant = 0;       // bytes
  double item = 0;           // bytes for each of the batch
  double token = 0;          // bytes for each of it, times its length
  double token_squared = 0;  // bytes for each of it, times its length squared
  // The most by which it misses the peak of a dry run at a row's largest batch: a share of that.
  double error = 0;
  bool checked = false;  // there are more lengths than terms, so that it could miss

  [[nodiscard]] double at(std::uint64_t batch, std::uint64_t length) const;
};

// One for each GPU and variant of which two lengths or more have a law by requests and a batch that
// fits: a law by capacities does not say what is in use.
[[nodiscard]] std::vector<length_law> length_laws(const wishes& wanted, const plan& made);
[[nodiscard]] std::string sentence_of(const length_law& law);

}  // namespace memtrace::fit
