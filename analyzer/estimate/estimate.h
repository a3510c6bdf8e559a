// SPDX-License-Identifier: Apache-2.0
//
// An estimate: term by term, each with its formula and source, at the two moments at which a step
// of training is highest. Bytes of one device.
//
// Gradients and activations are not there at once: a backward pass frees activations as it makes
// gradients, so that the highest total is at its beginning (all activations, the logits'
// gradients) or in the optimizer's step (all gradients, the step's temporaries), and not the sum of
// all terms that is often given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/estimate/plan.h"
#include "analyzer/estimate/sources.h"

namespace memtrace::estimate {

struct term {
  std::string_view id;  // stable: weights, gradients, …
  std::string_view name;
  double bytes = 0;
  bool in_backward = true;  // is there when the backward pass begins
  bool in_step = true;      // when the optimizer steps
  std::string formula;      // with this plan's figures
  source from{};
};

struct estimation {
  std::vector<term> terms;
  std::uint64_t parameters = 0;
  std::uint64_t trained = 0;
  double backward = 0;  // sums of the terms that are there then
  double step = 0;
  [[nodiscard]] double peak() const { return backward > step ? backward : step; }
  // Of the peak, what is outside of PyTorch's pool.
  double outside = 0;
};

// problem_with(wanted) must be empty.
[[nodiscard]] estimation make_estimate(const plan& wanted);

// The same without words, for many batch sizes: the peak.
[[nodiscard]] double peak_at(plan wanted, std::uint64_t batch);

}  // namespace memtrace::estimate
