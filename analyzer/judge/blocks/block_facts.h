// SPDX-License-Identifier: Apache-2.0
//
// What attribution knows of one block.
#pragma once

#include <cstdint>

#include "analyzer/model/attribution/terms.h"
#include "analyzer/trace/reader/ids.h"

namespace memtrace::blocks {

inline constexpr std::uint32_t never = 0xffffffffu;

// Of one block, by its block_number. 64 bytes: see fact_list.h.
struct block_facts {
  attribution::category what = attribution::category::unknown;
  attribution::phase born_in = attribution::phase::other;
  bool evaluation = false;        // made while or after a model ran without gradients, and
                                  // before training went on
  bool recomputed = false;        // by checkpointing, in backward
  bool kept_by_autograd = false;  // saved for a backward pass
  bool attention_scores = false;  // quadratic in the sequence length
  bool cast_copy = false;         // autocast's copy of a parameter
  bool unused_copy = false;       // a parameter of a model that no forward pass uses
  std::uint8_t element_bits = 0;  // of a tensor kept by autograd or a parameter; 0: not known
  std::uint8_t dimensions = 0;    // of the tensor that autograd kept first; 0: not known
  std::uint32_t rows = 0;         // its last dimension but one
  std::uint32_t columns = 0;      // its last dimension
  std::uint32_t call = 0;         // of a root module, in which it was born; 0: none
  // Steps are counted by the step_ends that are past: 0 is up to the first end. Without any: never.
  std::uint32_t birth_step = never;
  std::uint32_t death_step = never;    // never: alive at the end
  std::uint32_t free_request = never;  // index in request_log::requests; never: alive at the end
  trace::object_id module;  // innermost at birth; in backward, whose gradient is computed
  trace::object_id root;
  trace::stack_id stack;    // of its allocation
  trace::stack_id forward;  // made in backward: the forward call whose gradient is computed
  trace::text_id node;      // made in backward: the autograd node, such as MmBackward0
  trace::text_id name;      // of a parameter, for its weights, gradient and states
  trace::text_id detail;    // dtype, or key of an optimizer state
  [[nodiscard]] bool operator==(const block_facts&) const = default;
};

}  // namespace memtrace::blocks
