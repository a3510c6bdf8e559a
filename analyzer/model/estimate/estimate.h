// SPDX-License-Identifier: Apache-2.0
//
// An estimate: term by term, each with its formula and source, at the three moments at which a step
// of training can be highest. Bytes of one device.
//
// Gradients and activations are not there at once: a backward pass frees activations as it makes
// gradients, so that the highest total is at its beginning (all activations, the logits'
// gradients), at its end (all gradients, and tied weights' twice more) or in the optimizer's step
// (all gradients, the step's temporaries), and not the sum of all terms that is often given.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/estimate/fit.h"
#include "analyzer/model/estimate/plan.h"
#include "analyzer/model/estimate/sources.h"

namespace memtrace::estimate {

// The moments, as a set.
inline constexpr std::uint8_t never = 0;  // at none of them: something larger is there instead
inline constexpr std::uint8_t backward_begins = 1;
inline constexpr std::uint8_t backward_ends = 2;
inline constexpr std::uint8_t optimizer_steps = 4;
inline constexpr std::uint8_t always = 7;

struct term {
  std::string_view id;  // stable: weights, gradients, …
  std::string_view name;
  double bytes = 0;
  std::uint8_t when = always;
  std::string formula;  // with this plan's figures
  source from{};
};

struct estimation {
  std::vector<term> terms;
  std::uint64_t parameters = 0;
  std::uint64_t trained = 0;
  double begin = 0;  // sums of the terms that are there then
  double end = 0;
  double step = 0;
  [[nodiscard]] double peak() const { return std::max({begin, end, step}); }
  // The share of the peak outside of PyTorch's pool.
  double outside = 0;
};

// problem_with(wanted) must be empty.
[[nodiscard]] estimation make_estimate(const plan& wanted);

// The same without words, for many batch sizes: the peak.
[[nodiscard]] double peak_at(plan wanted, std::uint64_t batch);

// An estimate for people, and for tools.
[[nodiscard]] std::string to_text(const plan& wanted, const estimation& made,
                                  const std::vector<gpu_fit>& fits);
// memtrace-estimate/1
[[nodiscard]] std::string to_json(const plan& wanted, const estimation& made,
                                  const std::vector<gpu_fit>& fits);

}  // namespace memtrace::estimate
