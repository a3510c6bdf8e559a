// SPDX-License-Identifier: Apache-2.0
//
// The shape of a model of transformers' GPT-2, BERT, T5 or Llama, from the names and sizes of its
// parameters, and how many tokens a step has, from the shapes that autograd kept.
#pragma once

#include <optional>

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/model/estimate/activations.h"
#include "analyzer/model/estimate/model_shape.h"
#include "analyzer/model/estimate/precision.h"

namespace memtrace::advice {

struct known_shape {
  estimate::model_shape shape;
  estimate::batch_size batch;  // of the step with most tokens
  estimate::precision how{};
  bool fused_attention = true;
};

// Empty: of another family, not trained as a whole, or with checkpointing.
[[nodiscard]] std::optional<known_shape> known_shape_of(const blocks::evidence& of);

}  // namespace memtrace::advice
