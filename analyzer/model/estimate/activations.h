// SPDX-License-Identifier: Apache-2.0
//
// Bytes that a transformer's forward pass leaves for its backward pass.
#pragma once

#include <cstdint>

#include "analyzer/model/estimate/model_shape.h"
#include "analyzer/model/estimate/precision.h"

namespace memtrace::estimate {

struct batch_size {
  double sequences = 0;
  double tokens = 0;          // each; of T5: into the encoder
  double decoder_tokens = 0;  // each; T5 alone
};

struct activation_bytes {
  double layers = 0;            // all of them, without the scores
  double scores = 0;            // quadratic in the sequence; 0 where attention is fused
  double ends = 0;              // embedding, last norm, output layer's input
  double inputs_of_layers = 0;  // all that checkpointing of whole layers keeps
  double largest_layer = 0;     // with its scores: live while checkpointing computes it again
};

// The part of a model that is trained: frozen layers keep less.
enum class trained_part : std::uint8_t {
  everything,
  adapters_in_attention,
  adapters_in_all,
};

[[nodiscard]] activation_bytes activations(const model_shape& shape, const batch_size& batch,
                                           precision how, bool fused_attention,
                                           trained_part trained = trained_part::everything);

}  // namespace memtrace::estimate
