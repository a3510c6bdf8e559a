// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/estimate/activations.h"

#include <algorithm>

#include "analyzer/model/estimate/kept_tensors.h"

namespace memtrace::estimate {

namespace {

// Tokens in the batch, and how many each attends to.
struct stretch {
  double tokens = 0;
  double keys = 0;
};

[[nodiscard]] double elements(extent of, const model_shape& shape, const stretch& along) {
  switch (of) {
    case extent::hidden:
      return along.tokens * static_cast<double>(shape.hidden);
    case extent::inner:
      return along.tokens * static_cast<double>(shape.inner());
    case extent::kv_inner:
      return along.tokens * static_cast<double>(shape.kv_inner());
    case extent::feed_forward:
      return along.tokens * static_cast<double>(shape.feed_forward);
    case extent::rows:
      return along.tokens * static_cast<double>(shape.heads);
    case extent::scores:
      return along.tokens * along.keys * static_cast<double>(shape.heads);
  }
  return 0;
}

struct counter {
  const model_shape& shape;
  precision how;
  bool fused;
  trained_part trained;

  [[nodiscard]] bool is_kept(kept_for why) const {
    switch (why) {
      case kept_for::inputs:
        return true;
      case kept_for::matrix:
        return trained != trained_part::adapters_in_attention;
      case kept_for::norm:
        return trained == trained_part::everything;
    }
    return true;
  }
  [[nodiscard]] double sum(part of, const stretch& along) const {
    double bytes = 0;
    for (const auto& one : kept_by(of, shape)) {
      if (!is_kept(one.why)) continue;
      bytes += one.bytes(how) * elements(one.of, shape, along);
    }
    return bytes;
  }
  [[nodiscard]] double product(const stretch& along) const {
    return sum(fused ? part::fused_product : part::stored_product, along);
  }
  [[nodiscard]] double layer(const stretch& along) const {
    return sum(part::self_attention, along) + sum(part::feed_forward, along);
  }
  // The residual stream, in 32 bits but where all is in 16.
  [[nodiscard]] double layer_input(const stretch& along) const {
    const bool in_16 = how == precision::half || how == precision::master;
    return (in_16 ? 2 : 4) * elements(extent::hidden, shape, along);
  }
};

// Adds the share of one kind of layer, `count` of them.
void add(activation_bytes& all, double count, double layer, double product, bool fused,
         double input) {
  all.layers += count * (fused ? layer + product : layer);
  if (!fused) all.scores += count * product;
  all.inputs_of_layers += count * input;
  if (count > 0) all.largest_layer = std::max(all.largest_layer, layer + product);
}

}  // namespace

activation_bytes activations(const model_shape& shape, const batch_size& batch, precision how,
                             bool fused_attention, trained_part trained) {
  const counter of{shape, how, fused_attention, trained};
  const stretch own{batch.sequences * batch.tokens, batch.tokens};
  activation_bytes all;
  add(all, static_cast<double>(shape.layers), of.layer(own), of.product(own), fused_attention,
      of.layer_input(own));
  all.ends = of.sum(part::ends, own);
  if (shape.decoder_layers == 0) return all;
  const stretch decoder{batch.sequences * batch.decoder_tokens, batch.decoder_tokens};
  const stretch across{decoder.tokens, batch.tokens};
  const auto layer = of.layer(decoder) + of.sum(part::cross_attention, decoder) +
                     of.sum(part::cross_attention_keys, own);
  add(all, static_cast<double>(shape.decoder_layers), layer,
      of.product(decoder) + of.product(across), fused_attention, of.layer_input(decoder));
  all.ends += of.sum(part::ends, decoder);
  return all;
}

}  // namespace memtrace::estimate
