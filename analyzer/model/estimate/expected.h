// SPDX-License-Identifier: Apache-2.0
//
// A run's needs by the formulas, beside what it really needed, term by term: what the trace knows
// of its parameters, its optimizer and its precision goes in. Bytes of one device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/estimate/sources.h"

namespace memtrace::estimate {

// A difference that is worth a word: so much of what was expected, and of the peak.
inline constexpr double notable_difference = 0.10;
inline constexpr double notable_share = 0.01;

struct trained_storage {
  std::uint64_t bytes = 0;
  std::uint8_t element_bytes = 4;
  bool trained = false;
};

// Beside each expectation the most that was seen at a peak of one of the run's phases.
struct measured_run {
  std::vector<trained_storage> parameters;
  std::vector<std::string> optimizers;  // classes that stepped
  bool autocast = false;
  bool hopper = false;  // compute capability 9 or later: larger workspaces
  std::uint64_t weights = 0;
  std::uint64_t unused_copies = 0;  // of the weights: of models that no forward pass uses
  std::uint64_t gradients = 0;
  std::uint64_t optimizer_states = 0;
  std::uint64_t step_temporaries = 0;  // at the optimizer's own peak
  std::uint64_t weight_casts = 0;      // autocast's copies
  std::uint64_t workspace = 0;
  std::uint64_t activations = 0;
  std::uint64_t cached = 0;       // reserved and not in use, when most was reserved
  std::uint64_t graph_pools = 0;  // at that moment, in no block: replays of CUDA graphs need it
  std::uint64_t peak = 0;         // allocated
  // By the model's shape and the tokens of a step; empty: neither is known.
  std::optional<std::uint64_t> expected_activations;
  std::string activations_formula;
};

struct expected_term {
  std::string_view id;
  std::string_view name;
  std::optional<std::uint64_t> expected;  // empty: no formula for this run
  std::uint64_t measured = 0;
  std::string formula;
  source from{};
  std::string note;  // why they differ, where that is known
};

[[nodiscard]] std::vector<expected_term> expect(const measured_run& run);

// By more than notable_difference, and by more than notable_share of the peak.
[[nodiscard]] bool is_off(const expected_term& term, std::uint64_t peak);

// The part of a device's peak that grows with the batch, and what the formulas expect of
// activations. Plain values, for the report. Bytes.
struct step_share {
  std::uint32_t device = 0;
  std::uint64_t fixed = 0;          // at the allocated peak: weights, states, workspaces …
  std::uint64_t with_batch = 0;     // activations, inputs, scratch memory of forward and backward
  std::uint64_t unused_copies = 0;  // of weights, alive at the peak
  // Empty where the model is none of the known families, or checkpointing or adapters change what
  // its layers keep.
  std::optional<std::uint64_t> expected_activations;
  std::string activations_formula;
};

}  // namespace memtrace::estimate
