// SPDX-License-Identifier: Apache-2.0
//
// The shape of a transformer, its parameters counted, and published configurations by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::estimate {

// Which tensors a layer keeps for its backward pass differs between implementations: see
// kept_tensors.h.
enum class family : std::uint8_t {
  generic,  // pre-norm, GELU, dropout: as in arXiv 2205.05198
  gpt2,
  bert,
  t5,  // encoder and decoder
  llama,
};

struct model_shape {
  family like = family::generic;
  std::uint64_t layers = 0;          // of T5: of the encoder
  std::uint64_t decoder_layers = 0;  // T5 alone
  std::uint64_t hidden = 0;
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;   // fewer than heads: grouped queries
  std::uint64_t head_size = 0;  // hidden / heads but in T5
  std::uint64_t feed_forward = 0;
  std::uint64_t vocabulary = 0;  // 0: no embedding and no logits
  std::uint64_t positions = 0;   // learned ones
  bool gated = false;            // two matrices into the feed-forward part
  bool tied = true;              // logits by the embedding's own weights

  [[nodiscard]] std::uint64_t inner() const { return heads * head_size; }  // width of attention
  [[nodiscard]] std::uint64_t kv_inner() const { return kv_heads * head_size; }
};

struct parameter_count {
  std::uint64_t total = 0;
  std::uint64_t linear = 0;         // in weights of linear layers, the output layer included
  std::uint64_t output = 0;         // weights of the output layer; tied ones as well
  std::uint64_t largest_layer = 0;  // the largest of blocks, embedding and output layer
  // Rows and columns of all matrices, summed: what a factored optimizer keeps.
  std::uint64_t rows_and_columns = 0;
};

[[nodiscard]] parameter_count count_parameters(const model_shape& shape);

// A linear layer of a block, for adapters. `times`: in the whole model.
struct linear_layer {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  std::uint64_t times = 0;
  bool query_or_value = false;  // where PEFT puts adapters by default
  bool attention = false;
};
[[nodiscard]] std::vector<linear_layer> linear_layers(const model_shape& shape);

// Fills in what follows from the rest: head size, key-value heads, feed-forward size.
[[nodiscard]] model_shape completed(model_shape shape);

struct preset {
  std::string_view name;  // t5-small
  model_shape shape;
};
// As published in the config.json of the model of that name on the Hugging Face hub.
[[nodiscard]] const std::vector<preset>& presets();
[[nodiscard]] std::optional<model_shape> find_preset(std::string_view name);

}  // namespace memtrace::estimate
