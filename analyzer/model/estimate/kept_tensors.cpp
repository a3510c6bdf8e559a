// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/estimate/kept_tensors.h"

#include <array>

namespace memtrace::estimate {

namespace {

using enum extent;
using row = kept_tensor;

// clang-format off
constexpr std::array generic_attention = {
    row{"input of the norm", hidden, 4, 4, 2},
    row{"input of q, k and v", hidden, 4, 2, 2},
    row{"q", inner, 4, 2, 2},
    row{"k", kv_inner, 4, 2, 2},
    row{"v", kv_inner, 4, 2, 2},
    row{"input of the output projection", inner, 4, 2, 2},
    row{"mask of dropout", hidden, 1, 1, 1},
};
constexpr std::array generic_feed_forward = {
    row{"input of the norm", hidden, 4, 4, 2},
    row{"input of the first matrix", hidden, 4, 2, 2, kept_for::matrix},
    row{"input of the activation function", feed_forward, 4, 2, 2},
    row{"input of the second matrix", feed_forward, 4, 2, 2, kept_for::matrix},
    row{"mask of dropout", hidden, 1, 1, 1},
};
constexpr std::array generic_gated = {
    row{"input of the norm", hidden, 4, 4, 2},
    row{"input of both matrices", hidden, 4, 4, 2, kept_for::matrix},
    row{"gate", feed_forward, 4, 2, 2},
    row{"gate after the activation function", feed_forward, 4, 2, 2},
    row{"other factor", feed_forward, 4, 2, 2},
    row{"input of the last matrix", feed_forward, 4, 2, 2, kept_for::matrix},
    row{"mask of dropout", hidden, 1, 1, 1},
};
constexpr std::array fused = {
    row{"logarithm of each row's sum", rows, 4, 4, 4},
};
constexpr std::array generic_stored = {
    row{"softmax", scores, 4, 2, 2},
    row{"mask of dropout", scores, 1, 1, 1},
    row{"after dropout", scores, 4, 2, 2},
};
// Autocast runs softmax in 32 bits.
constexpr std::array stored_in_32_bits = {
    row{"softmax", scores, 4, 4, 2},
    row{"mask of dropout", scores, 1, 1, 1},
    row{"after dropout", scores, 4, 2, 2},
};
constexpr std::array generic_ends = {
    row{"input of the last norm", hidden, 4, 4, 2},
    row{"input of the output layer", hidden, 4, 2, 2, kept_for::matrix},
    row{"mask of dropout", hidden, 1, 1, 1},
};

// gelu_new, written out in elementwise operations; autocast runs pow in 32 bits.
constexpr std::array gpt2_feed_forward = {
    row{"input of the norm", hidden, 4, 4, 2},
    row{"input of the first matrix", hidden, 4, 2, 2, kept_for::matrix},
    row{"x, for its power", feed_forward, 4, 4, 2},
    row{"tanh", feed_forward, 4, 4, 2},
    row{"x / 2", feed_forward, 4, 2, 2},
    row{"1 + tanh", feed_forward, 4, 4, 2},
    row{"input of the second matrix", feed_forward, 4, 2, 2, kept_for::matrix},
    row{"mask of dropout", hidden, 1, 1, 1},
};

// Norms come after the sums, and hand on to three linear layers.
constexpr std::array bert_attention = {
    row{"input of q, k and v", hidden, 4, 6, 2},
    row{"q", inner, 4, 2, 2},
    row{"k", kv_inner, 4, 2, 2},
    row{"v", kv_inner, 4, 2, 2},
    row{"input of the output projection", inner, 4, 2, 2},
    row{"mask of dropout", hidden, 1, 1, 1},
    row{"input of the norm", hidden, 4, 4, 2},
};
constexpr std::array bert_ends = {
    row{"input of the first norm", hidden, 4, 4, 2},
    row{"mask of dropout", hidden, 1, 1, 1},
    row{"input of the head", hidden, 4, 2, 2},
    row{"input of its activation function", hidden, 4, 2, 2},
    row{"input of its norm", hidden, 4, 4, 2},
    row{"input of the output layer", hidden, 4, 2, 2, kept_for::matrix},
};

// The norm is written out in 32 bits: its input, and what is multiplied by the weight.
constexpr std::array t5_attention = {
    row{"input of the norm", hidden, 4, 4, 2},
    row{"the same in 32 bits", hidden, 0, 0, 4},
    row{"normalised", hidden, 4, 4, 2, kept_for::norm},
    row{"input of q, k and v", hidden, 4, 6, 2},
    row{"q", inner, 4, 2, 2},
    row{"k", kv_inner, 4, 2, 2},
    row{"v", kv_inner, 4, 2, 2},
    row{"input of the output projection", inner, 4, 2, 2},
    row{"mask of dropout", hidden, 1, 1, 1},
};
constexpr std::array t5_cross_attention = {
    row{"input of the norm", hidden, 4, 4, 2},
    row{"the same in 32 bits", hidden, 0, 0, 4},
    row{"normalised", hidden, 4, 4, 2, kept_for::norm},
    row{"input of q", hidden, 4, 2, 2},
    row{"q", inner, 4, 2, 2},
    row{"input of the output projection", inner, 4, 2, 2},
    row{"mask of dropout", hidden, 1, 1, 1},
};
constexpr std::array t5_cross_attention_keys = {
    row{"autocast's copies of the encoder's output", hidden, 0, 4, 0},
    row{"k", kv_inner, 4, 2, 2},
    row{"v", kv_inner, 4, 2, 2},
};
constexpr std::array t5_feed_forward = {
    row{"input of the norm", hidden, 4, 4, 2},
    row{"the same in 32 bits", hidden, 0, 0, 4},
    row{"normalised", hidden, 4, 4, 2, kept_for::norm},
    row{"input of the first matrix", hidden, 4, 2, 2, kept_for::matrix},
    row{"result of relu", feed_forward, 4, 2, 2},
    row{"mask of dropout", feed_forward, 1, 1, 1},
    row{"input of the second matrix", feed_forward, 4, 2, 2, kept_for::matrix},
    row{"mask of dropout", hidden, 1, 1, 1},
};
constexpr std::array t5_gated = {
    row{"input of the norm", hidden, 4, 4, 2},
    row{"the same in 32 bits", hidden, 0, 0, 4},
    row{"normalised", hidden, 4, 4, 2, kept_for::norm},
    row{"input of both matrices", hidden, 4, 4, 2, kept_for::matrix},
    row{"x, for its power", feed_forward, 4, 4, 2},
    row{"tanh", feed_forward, 4, 4, 2},
    row{"x / 2", feed_forward, 4, 2, 2},
    row{"1 + tanh", feed_forward, 4, 4, 2},
    row{"gate", feed_forward, 4, 4, 2},
    row{"other factor", feed_forward, 4, 2, 2},
    row{"mask of dropout", feed_forward, 1, 1, 1},
    row{"input of the last matrix", feed_forward, 4, 2, 2, kept_for::matrix},
    row{"mask of dropout", hidden, 1, 1, 1},
};
// The bias by relative position and the mask are one tensor of the scores' shape.
constexpr std::array t5_fused = {
    row{"logarithm of each row's sum", rows, 4, 4, 4},
    row{"bias and mask", scores, 4, 2, 2},
};
// The softmax is computed of the scores in 32 bits.
constexpr std::array t5_stored = {
    row{"softmax", scores, 4, 4, 4},
    row{"mask of dropout", scores, 1, 1, 1},
    row{"after dropout", scores, 4, 2, 2},
};
constexpr std::array t5_ends = {
    row{"mask of dropout", hidden, 1, 1, 1},
    row{"input of the last norm", hidden, 4, 4, 2},
    row{"the same in 32 bits", hidden, 0, 0, 4},
    row{"normalised", hidden, 4, 4, 2, kept_for::norm},
    row{"mask of dropout", hidden, 1, 1, 1},
    row{"what the stack hands on", hidden, 4, 2, 2},
};

constexpr std::array llama_attention = {
    row{"input of the norm in 32 bits", hidden, 4, 4, 4},
    row{"normalised", hidden, 4, 4, 2, kept_for::norm},
    row{"input of q, k and v", hidden, 4, 6, 2},
    row{"q", inner, 4, 2, 2},
    row{"k, repeated for each head", inner, 4, 2, 2},
    row{"v, repeated for each head", inner, 4, 2, 2},
    row{"input of the output projection", inner, 4, 2, 2},
};
constexpr std::array llama_feed_forward = {
    row{"input of the norm in 32 bits", hidden, 4, 4, 4},
    row{"normalised", hidden, 4, 4, 2, kept_for::norm},
    row{"input of both matrices", hidden, 4, 4, 2, kept_for::matrix},
    row{"gate", feed_forward, 4, 2, 2},
    row{"gate after silu", feed_forward, 4, 2, 2},
    row{"other factor", feed_forward, 4, 2, 2},
    row{"input of the last matrix", feed_forward, 4, 2, 2, kept_for::matrix},
};
constexpr std::array llama_ends = {
    row{"input of the last norm in 32 bits", hidden, 4, 4, 4},
    row{"normalised", hidden, 4, 4, 2, kept_for::norm},
    row{"input of the output layer", hidden, 4, 2, 2, kept_for::matrix},
};
// clang-format on

using rows_of = std::span<const kept_tensor>;

[[nodiscard]] rows_of self_attention(family like) {
  switch (like) {
    case family::bert:
      return bert_attention;
    case family::t5:
      return t5_attention;
    case family::llama:
      return llama_attention;
    case family::generic:
    case family::gpt2:
      break;
  }
  return generic_attention;
}

[[nodiscard]] rows_of stored_product(family like) {
  if (like == family::generic) return generic_stored;
  return like == family::t5 ? rows_of(t5_stored) : rows_of(stored_in_32_bits);
}

[[nodiscard]] rows_of feed_forward_of(const model_shape& shape) {
  switch (shape.like) {
    case family::gpt2:
      return gpt2_feed_forward;
    case family::t5:
      return shape.gated ? rows_of(t5_gated) : rows_of(t5_feed_forward);
    case family::llama:
      return llama_feed_forward;
    case family::bert:
    case family::generic:
      break;
  }
  return shape.gated ? rows_of(generic_gated) : rows_of(generic_feed_forward);
}

[[nodiscard]] rows_of ends_of(family like) {
  switch (like) {
    case family::bert:
      return bert_ends;
    case family::t5:
      return t5_ends;
    case family::llama:
      return llama_ends;
    case family::generic:
    case family::gpt2:
      break;
  }
  return generic_ends;
}

}  // namespace

std::span<const kept_tensor> kept_by(part of, const model_shape& shape) {
  switch (of) {
    case part::self_attention:
      return self_attention(shape.like);
    case part::cross_attention:
      return t5_cross_attention;
    case part::cross_attention_keys:
      return t5_cross_attention_keys;
    case part::fused_product:
      return shape.like == family::t5 ? rows_of(t5_fused) : rows_of(fused);
    case part::stored_product:
      return stored_product(shape.like);
    case part::feed_forward:
      return feed_forward_of(shape);
    case part::ends:
      return ends_of(shape.like);
  }
  return {};
}

}  // namespace memtrace::estimate
