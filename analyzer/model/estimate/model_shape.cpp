// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/estimate/model_shape.h"

#include <algorithm>

namespace memtrace::estimate {

namespace {

// The parameters of a norm: LayerNorm has weight and bias, RMSNorm (T5, Llama) a weight.
[[nodiscard]] std::uint64_t norm_size(const model_shape& shape) {
  return shape.like == family::t5 || shape.like == family::llama ? shape.hidden : 2 * shape.hidden;
}

[[nodiscard]] bool has_biases(const model_shape& shape) {
  return shape.like != family::t5 && shape.like != family::llama;
}

[[nodiscard]] std::uint64_t norms_of_a_layer(const model_shape& shape) {
  constexpr std::uint64_t self_attention_and_feed_forward = 2;
  return self_attention_and_feed_forward * norm_size(shape);
}

// The linear layers' matrices and biases in one layer without cross-attention.
struct layer_count {
  std::uint64_t matrices = 0;
  std::uint64_t biases = 0;
};

[[nodiscard]] layer_count attention_of(const model_shape& shape) {
  return {2 * shape.hidden * shape.inner() + 2 * shape.hidden * shape.kv_inner(),
          shape.inner() + 2 * shape.kv_inner() + shape.hidden};
}

[[nodiscard]] layer_count feed_forward_of(const model_shape& shape) {
  const std::uint64_t in = shape.gated ? 2 : 1;
  return {(in + 1) * shape.hidden * shape.feed_forward, in * shape.feed_forward + shape.hidden};
}

// Beside the layers and the embedding of words: positions, token types, norms, heads.
[[nodiscard]] std::uint64_t rest_of(const model_shape& shape) {
  const auto h = shape.hidden;
  const auto positions = shape.positions * h;
  switch (shape.like) {
    case family::bert:
      // Two token types, a norm; the head for masked words: a matrix, its bias, a norm, the
      // vocabulary's biases.
      return positions + 2 * h + 2 * h + h * h + h + 2 * h + shape.vocabulary;
    case family::t5:
      // Norms after the stacks, relative positions (32 buckets) in the first layer of each.
      return 2 * h + 2 * 32 * shape.heads +
             shape.decoder_layers * (norm_size(shape) + attention_of(shape).matrices);
    case family::generic:
    case family::gpt2:
    case family::llama:
      break;
  }
  return positions + norm_size(shape);
}

}  // namespace

parameter_count count_parameters(const model_shape& shape) {
  const auto attention = attention_of(shape);
  const auto feed_forward = feed_forward_of(shape);
  const auto biases = has_biases(shape) ? attention.biases + feed_forward.biases : 0;
  const auto layer = attention.matrices + feed_forward.matrices + biases + norms_of_a_layer(shape);
  const auto layers = shape.layers + shape.decoder_layers;
  const auto words = shape.vocabulary * shape.hidden;
  parameter_count found;
  found.total = layers * layer + words + rest_of(shape) + (shape.tied ? 0 : words);
  found.output = words;
  found.linear = words;
  for (const auto& one : linear_layers(shape)) {
    found.linear += one.in * one.out * one.times;
    found.rows_and_columns += (one.in + one.out) * one.times;
  }
  found.rows_and_columns += (shape.tied ? 1 : 2) * (shape.vocabulary + shape.hidden);
  found.largest_layer = std::max(layer, words);
  return found;
}

std::vector<linear_layer> linear_layers(const model_shape& shape) {
  const auto h = shape.hidden;
  const auto all = shape.layers + shape.decoder_layers;
  const auto attentions = all + shape.decoder_layers;  // and cross-attention
  std::vector<linear_layer> made;
  if (shape.like == family::gpt2) {
    made.push_back({h, shape.inner() + 2 * shape.kv_inner(), attentions, true, true});
  } else {
    made.push_back({h, shape.inner(), attentions, true, true});
    made.push_back({h, shape.kv_inner(), attentions, false, true});
    made.push_back({h, shape.kv_inner(), attentions, true, true});
  }
  made.push_back({shape.inner(), h, attentions, false, true});
  made.push_back({h, shape.feed_forward, (shape.gated ? 2 : 1) * all, false, false});
  made.push_back({shape.feed_forward, h, all, false, false});
  return made;
}

model_shape completed(model_shape shape) {
  if (shape.kv_heads == 0) shape.kv_heads = shape.heads;
  if (shape.head_size == 0 && shape.heads != 0) shape.head_size = shape.hidden / shape.heads;
  if (shape.feed_forward == 0) shape.feed_forward = 4 * shape.hidden;
  return shape;
}

namespace {

[[nodiscard]] model_shape gpt2(std::uint64_t layers, std::uint64_t hidden, std::uint64_t heads) {
  model_shape made{family::gpt2, layers, 0, hidden, heads};
  made.vocabulary = 50257;
  made.positions = 1024;
  return completed(made);
}

[[nodiscard]] model_shape bert(std::uint64_t layers, std::uint64_t hidden, std::uint64_t heads) {
  model_shape made{family::bert, layers, 0, hidden, heads};
  made.vocabulary = 30522;
  made.positions = 512;
  return completed(made);
}

// Heads have 64 elements; `layers` in the encoder and as many in the decoder.
[[nodiscard]] model_shape t5(std::uint64_t layers, std::uint64_t hidden, std::uint64_t heads,
                             std::uint64_t feed_forward) {
  model_shape made{family::t5, layers, layers, hidden, heads};
  made.head_size = 64;
  made.feed_forward = feed_forward;
  made.vocabulary = 32128;
  return completed(made);
}

[[nodiscard]] model_shape mt5(std::uint64_t layers, std::uint64_t hidden, std::uint64_t heads,
                              std::uint64_t feed_forward) {
  auto made = t5(layers, hidden, heads, feed_forward);
  made.vocabulary = 250112;
  made.gated = true;
  made.tied = false;
  return made;
}

[[nodiscard]] model_shape llama(std::uint64_t layers, std::uint64_t hidden, std::uint64_t heads,
                                std::uint64_t kv_heads, std::uint64_t feed_forward,
                                std::uint64_t vocabulary, bool tied = false) {
  model_shape made{family::llama, layers, 0, hidden, heads, kv_heads};
  made.feed_forward = feed_forward;
  made.vocabulary = vocabulary;
  made.gated = true;
  made.tied = tied;
  return completed(made);
}

}  // namespace

const std::vector<preset>& presets() {
  static const std::vector<preset> all = {
      {"t5-small", t5(6, 512, 8, 2048)},
      {"t5-base", t5(12, 768, 12, 3072)},
      {"t5-large", t5(24, 1024, 16, 4096)},
      {"mt5-small", mt5(8, 512, 6, 1024)},
      {"mt5-base", mt5(12, 768, 12, 2048)},
      {"mt5-large", mt5(24, 1024, 16, 2816)},
      {"mt5-xl", mt5(24, 2048, 32, 5120)},
      {"bert-base", bert(12, 768, 12)},
      {"bert-large", bert(24, 1024, 16)},
      {"gpt2", gpt2(12, 768, 12)},
      {"gpt2-medium", gpt2(24, 1024, 16)},
      {"gpt2-large", gpt2(36, 1280, 20)},
      {"gpt2-xl", gpt2(48, 1600, 25)},
      {"llama-2-7b", llama(32, 4096, 32, 32, 11008, 32000)},
      {"llama-2-13b", llama(40, 5120, 40, 40, 13824, 32000)},
      {"llama-3-8b", llama(32, 4096, 32, 8, 14336, 128256)},
      {"llama-3.2-1b", llama(16, 2048, 32, 8, 8192, 128256, true)},
  };
  return all;
}

std::optional<model_shape> find_preset(std::string_view name) {
  const auto& all = presets();
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const preset& one) { return one.name == name; });
  return found == all.end() ? std::nullopt : std::optional(found->shape);
}

}  // namespace memtrace::estimate
