// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/advise.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/model/estimate/activations.h"
#include "analyzer/model/estimate/loss.h"
#include "analyzer/model/estimate/model_shape.h"
#include "analyzer/model/estimate/precision.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using estimate::family;

namespace {

// The shape of a model of transformers' GPT-2, BERT, T5 or Llama, from the names and sizes of its
// parameters, and how many tokens a step has, from the shapes that autograd kept.
struct known_shape {
  estimate::model_shape shape;
  estimate::batch_size batch;  // of the step with most tokens
  estimate::precision how{};
  bool fused_attention = true;
};

// Where a family's parameters say what. Ends of names; a size is elements over the hidden size,
// of `norm` the hidden size itself.
struct family_names {
  family like{};
  std::string_view root;   // how the model's class begins
  std::string_view layer;  // one a layer
  std::string_view norm;
  std::string_view query;  // × hidden: width of attention
  std::string_view up;     // × hidden: feed-forward size
  std::string_view words;  // × hidden: vocabulary
};
constexpr std::array families = {
    family_names{family::gpt2, "GPT2", ".ln_1.weight", ".ln_1.weight", ".attn.c_proj.weight",
                 ".mlp.c_proj.weight", ".wte.weight"},
    family_names{family::bert, "Bert", ".attention.self.query.weight",
                 ".attention.output.LayerNorm.weight", ".attention.self.query.weight",
                 ".intermediate.dense.weight", ".word_embeddings.weight"},
    family_names{family::t5, "T5", ".SelfAttention.q.weight", ".layer.0.layer_norm.weight",
                 ".SelfAttention.q.weight", ".DenseReluDense.wo.weight", "shared.weight"},
    family_names{family::t5, "MT5", ".SelfAttention.q.weight", ".layer.0.layer_norm.weight",
                 ".SelfAttention.q.weight", ".DenseReluDense.wo.weight", "shared.weight"},
    family_names{family::llama, "Llama", ".self_attn.q_proj.weight", ".input_layernorm.weight",
                 ".self_attn.q_proj.weight", ".mlp.down_proj.weight", ".embed_tokens.weight"},
};
constexpr std::uint64_t usual_head_size = 64;
constexpr std::uint64_t relative_positions = 32;

struct model {
  const family_names* names = nullptr;
  trace::object_id root;
};

[[nodiscard]] model find_model(const blocks::evidence& of) {
  for (const auto& [object, facts] : of.modules) {
    if (!of.names[facts.path].empty()) continue;
    const auto type = of.names[facts.type];
    for (const auto& names : families) {
      if (type.starts_with(names.root)) return {&names, facts.root};
    }
  }
  return {};
}

class reading {
 public:
  reading(const blocks::evidence& of, const model& which) : of_(of), which_(which) {}

  [[nodiscard]] std::optional<known_shape> run() {
    read_parameters();
    if (layers_ == 0 || hidden_ == 0) return std::nullopt;
    read_kept();
    if (tokens_ == 0 || rows_ == 0) return std::nullopt;
    return made();
  }

 private:
  // Elements of the parameter whose name ends so, the first one of that name.
  void note(std::string_view name, std::string_view end, std::uint64_t elements,
            std::uint64_t& into) const {
    if (into == 0 && name.ends_with(end)) into = elements;
  }

  void read_parameters() {
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      const auto& facts = of_.blocks[block];
      if (facts.what != category::weights || facts.root != which_.root || facts.unused_copy) {
        continue;
      }
      const auto name = of_.names[facts.name];
      if (!seen_.insert(facts.name.value).second) continue;
      const auto bits = facts.element_bits == 0 ? 32u : facts.element_bits;
      const auto elements = bytes_of(of_, block) * 8 / bits;
      if (bits < 32) half_ = true;
      note(name, which_.names->norm, elements, hidden_);
      note(name, which_.names->query, elements, query_);
      note(name, which_.names->up, elements, up_);
      note(name, which_.names->words, elements, words_);
      note(name, ".relative_attention_bias.weight", elements, relative_);
      if (name.ends_with(which_.names->layer)) ++layers_;
      if (name.ends_with(".EncDecAttention.q.weight")) ++decoder_layers_;
      if (name.ends_with(".wi_0.weight")) gated_ = true;
    }
  }

  [[nodiscard]] bool in_decoder(trace::object_id module) const {
    const auto known = of_.modules.find(module);
    return known != of_.modules.end() && of_.names[known->second.path].starts_with("decoder");
  }

  // Tensors of the hidden size: [sequences, tokens, hidden].
  void read_kept() {
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      const auto& facts = of_.blocks[block];
      if (!facts.kept_by_autograd || facts.evaluation || facts.what == category::weights) continue;
      if (facts.attention_scores) scores_ = true;
      if (facts.dimensions == 4 && head_size_ == 0 && !facts.attention_scores) {
        head_size_ = facts.columns;
      }
      if (facts.dimensions != 3 || facts.columns != hidden_ || facts.element_bits == 0) continue;
      const auto tokens = bytes_of(of_, block) * 8 / facts.element_bits / hidden_;
      const bool decodes = decoder_layers_ != 0 && in_decoder(facts.module);
      auto& most = decodes ? decoder_tokens_ : tokens_;
      if (tokens <= most) continue;
      most = tokens;
      (decodes ? decoder_rows_ : rows_) = facts.rows;
    }
  }

  [[nodiscard]] known_shape made() const {
    known_shape known;
    auto& shape = known.shape;
    shape.like = which_.names->like;
    shape.layers = layers_ - decoder_layers_;
    shape.decoder_layers = decoder_layers_;
    shape.hidden = hidden_;
    const auto inner = std::max<std::uint64_t>(1, query_ / hidden_);
    shape.heads = heads_of(inner);
    shape.head_size = inner / shape.heads;
    shape.kv_heads = shape.heads;
    shape.feed_forward = up_ / hidden_;
    shape.vocabulary = words_ / hidden_;
    shape.gated = gated_ || shape.like == family::llama;
    known.batch.sequences = static_cast<double>(tokens_) / static_cast<double>(rows_);
    known.batch.tokens = static_cast<double>(rows_);
    known.batch.decoder_tokens = static_cast<double>(decoder_rows_);
    known.how = of_.attributed.autocast ? estimate::precision::amp
                : half_                 ? estimate::precision::half
                                        : estimate::precision::fp32;
    known.fused_attention = !scores_;
    return known;
  }

  [[nodiscard]] std::uint64_t heads_of(std::uint64_t inner) const {
    if (relative_ != 0) return std::max<std::uint64_t>(1, relative_ / relative_positions);
    const auto size = head_size_ != 0 && inner % head_size_ == 0 ? head_size_ : usual_head_size;
    return std::max<std::uint64_t>(1, inner / size);
  }

  const blocks::evidence& of_;
  model which_;
  std::set<std::uint32_t> seen_;
  std::uint64_t layers_ = 0;
  std::uint64_t decoder_layers_ = 0;
  std::uint64_t hidden_ = 0;
  std::uint64_t query_ = 0;
  std::uint64_t up_ = 0;
  std::uint64_t words_ = 0;
  std::uint64_t relative_ = 0;
  std::uint64_t head_size_ = 0;
  std::uint64_t tokens_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t decoder_tokens_ = 0;
  std::uint64_t decoder_rows_ = 0;
  bool gated_ = false;
  bool half_ = false;
  bool scores_ = false;
};

// Empty: of another family, not trained as a whole, or with checkpointing.
[[nodiscard]] std::optional<known_shape> known_shape_of(const blocks::evidence& of) {
  const auto& run = of.attributed;
  if (!run.checkpointed.empty() || run.trainable_bytes * 2 < run.parameter_bytes) {
    return std::nullopt;
  }
  const auto which = find_model(of);
  if (which.names == nullptr) return std::nullopt;
  return reading(of, which).run();
}

void expect_activations(const blocks::evidence& of, estimate::step_share& made) {
  const auto known = known_shape_of(of);
  if (!known) return;
  const auto kept =
      estimate::activations(known->shape, known->batch, known->how, known->fused_attention);
  const bool decodes = known->shape.decoder_layers != 0;
  const auto tokens = decodes ? known->batch.decoder_tokens : known->batch.tokens;
  const auto loss = estimate::loss_bytes(known->shape.like, known->how).log_probabilities *
                    known->batch.sequences * tokens * static_cast<double>(known->shape.vocabulary);
  const auto bytes = kept.layers + kept.scores + kept.ends + loss;
  constexpr double most = 1e18;  // of a damaged trace
  if (!(bytes < most)) return;
  made.expected_activations = static_cast<std::uint64_t>(bytes);
  made.activations_formula = fmt::format(
      "{} layers of {}, {:.0f} × {:.0f} tokens{}",
      known->shape.layers + known->shape.decoder_layers, known->shape.hidden,
      known->batch.sequences, known->batch.tokens, known->fused_attention ? "" : ", scores stored");
}

}  // namespace

estimate::step_share step_share_of(const blocks::evidence& of) {
  estimate::step_share made;
  made.device = of.log.device;
  const auto passes = passes_of(of);
  const auto training = scales_with_batch(of, passes, blocks::activity::training);
  const auto evaluation = scales_with_batch(of, passes, blocks::activity::evaluation);
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    const auto bytes = bytes_of(of, block);
    (training[block] || evaluation[block] ? made.with_batch : made.fixed) += bytes;
    const auto& facts = of.blocks[block];
    if (facts.what == category::weights && facts.unused_copy) made.unused_copies += bytes;
  }
  expect_activations(of, made);
  return made;
}

}  // namespace memtrace::advice
