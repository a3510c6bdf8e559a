// SPDX-License-Identifier: Apache-2.0
//
// The tensors that autograd keeps for the backward pass of a transformer's parts, one a row.
//
// The generic family is the count of arXiv 2205.05198, section 4.1, tensor by tensor (its 34 and 5
// bytes in 16 bits). The others follow from the operations in the models' code in transformers:
// what each of them keeps is in PyTorch's derivatives (tools/autograd/derivatives.yaml). Under
// autocast each linear layer makes its own 16-bit copy of an input in 32 bits.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "analyzer/model/estimate/model_shape.h"
#include "analyzer/model/estimate/precision.h"

namespace memtrace::estimate {

enum class extent : std::uint8_t {
  hidden,        // elements of it for each token
  inner,         // of the attention's width
  kv_inner,      //
  feed_forward,  //
  rows,          // one for each head and token
  scores,        // for each head, token and token attended to
};

// For whose gradient a tensor is kept: what a frozen layer's weights alone would need is not.
enum class kept_for : std::uint8_t { inputs, matrix, norm };

struct kept_tensor {
  std::string_view what;
  extent of{};
  std::uint8_t fp32 = 0;  // bytes an element
  std::uint8_t amp = 0;
  std::uint8_t half = 0;
  kept_for why = kept_for::inputs;
  [[nodiscard]] std::uint8_t bytes(precision how) const {
    return how == precision::fp32 ? fp32 : how == precision::amp ? amp : half;
  }
};

enum class part : std::uint8_t {
  self_attention,   // with its norm and residual, without what the product of q and k needs
  cross_attention,  // the same of T5's decoder; what it keeps of the encoder's tokens:
  cross_attention_keys,
  fused_product,   // softmax(q k) v in one kernel
  stored_product,  // in three: the scores are kept
  feed_forward,
  ends,  // once a model (of T5: a stack): embedding, last norm, output layer's input
};

[[nodiscard]] std::span<const kept_tensor> kept_by(part of, const model_shape& shape);

}  // namespace memtrace::estimate
