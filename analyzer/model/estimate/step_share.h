// SPDX-License-Identifier: Apache-2.0
//
// Of what a device held at its peak: what grows with the batch, and what the formulas expect of
// activations. Plain values, for the report. Bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace memtrace::estimate {

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
