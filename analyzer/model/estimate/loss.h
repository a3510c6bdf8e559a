// SPDX-License-Identifier: Apache-2.0
//
// Bytes for each word of the vocabulary and token that cross_entropy needs as backward begins.
#pragma once

#include "analyzer/model/estimate/model_shape.h"
#include "analyzer/model/estimate/precision.h"

namespace memtrace::estimate {

struct loss_share {
  int log_probabilities = 4;  // kept for backward
  int gradients = 8;          // of the log-probabilities, and of the logits
};

// Models that hand it logits in 16 bits (BERT's and T5's do; GPT-2's and Llama's make 32 of them)
// keep the log-probabilities in 16, and under autocast a copy in 32 for the loss; the gradients of
// both are not there at once then.
[[nodiscard]] inline loss_share loss_bytes(family like, precision how) {
  const bool as_they_are = like == family::bert || like == family::t5;
  if (!as_they_are || how == precision::fp32) return {};
  if (how == precision::amp) return {6, 4};
  return {2, 4};
}

}  // namespace memtrace::estimate
