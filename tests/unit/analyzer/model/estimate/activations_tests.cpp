// SPDX-License-Identifier: Apache-2.0
//
// Activations, against the formulas of arXiv 2205.05198 and counts made by hand.
#include "analyzer/model/estimate/activations.h"
#include "analyzer/model/estimate/estimate.h"
#include "analyzer/model/estimate/fit.h"
#include "tests/unit/catch.h"

using namespace memtrace::estimate;

namespace {

model_shape shape_of(std::uint64_t layers, std::uint64_t hidden, std::uint64_t heads) {
  model_shape shape;
  shape.layers = layers;
  shape.hidden = hidden;
  shape.heads = heads;
  return completed(shape);
}

constexpr batch_size one_of(double sequences, double tokens) {
  return {sequences, tokens, tokens};
}

}  // namespace

TEST_CASE("A layer in 16 bits keeps s b h (34 + 5 a s / h) bytes") {
  // Section 4.2.3 gives 5 a s / h as 80 for GPT-3 and 64 for MT-NLG, with s = 2048.
  struct model {
    double hidden, heads, quadratic;
  };
  for (const auto& [hidden, heads, quadratic] : {model{12288, 96, 80}, model{20480, 128, 64}}) {
    const auto shape =
        shape_of(1, static_cast<std::uint64_t>(hidden), static_cast<std::uint64_t>(heads));
    const auto kept = activations(shape, one_of(3, 2048), precision::half, false);
    const double sbh = 3.0 * 2048 * hidden;
    CHECK(kept.layers == 34 * sbh);
    CHECK(kept.scores == quadratic * sbh);
    CHECK(kept.inputs_of_layers == 2 * sbh);
    CHECK(kept.largest_layer == (34 + quadratic) * sbh);
  }
}

TEST_CASE("In 32 bits all but the masks is twice as large") {
  // 34 = 16 × 2 + 2 masks; 5 = 2 × 2 + 1 mask.
  const auto kept = activations(shape_of(4, 64, 4), one_of(2, 16), precision::fp32, false);
  const double sbh = 2.0 * 16 * 64;
  CHECK(kept.layers == 4 * (16 * 4 + 2) * sbh);
  CHECK(kept.scores == 4 * (2.0 * 4 + 1) * 4 * 2 * 16 * 16);
}

TEST_CASE("Fused attention keeps a number for each head and token instead of scores") {
  const auto kept = activations(shape_of(4, 64, 4), one_of(2, 16), precision::half, true);
  CHECK(kept.scores == 0);
  CHECK(kept.layers == 4 * (34.0 * 2 * 16 * 64 + 4.0 * 2 * 16 * 4));
}

TEST_CASE("A decoder keeps its own tokens, and keys and values of the encoder's") {
  auto shape = *find_preset("t5-small");
  const auto both = activations(shape, {2, 32, 8}, precision::fp32, false);
  shape.decoder_layers = 0;
  const auto encoder = activations(shape, {2, 32, 8}, precision::fp32, false);
  // Hand count of one decoder layer (h = inner = 512, feed-forward 2048): self-attention
  // 3 × 4 + 4 (norm twice, q k v's input, and o's: 4 each of q, k, v, o) + 1, cross-attention
  // 3 × 4 + 4 + 4 + 1 and 4 + 4 of the encoder's tokens, feed-forward 3 × 4 + 1 and 4 + 1 + 4.
  const double own = 2.0 * 8 * (512 * (12 + 16 + 1 + 12 + 8 + 1 + 12 + 1) + 2048 * 9);
  const double across = 2.0 * 32 * 512 * 8;
  CHECK(both.layers - encoder.layers == 6 * (own + across));
  CHECK(both.scores - encoder.scores == 6 * 9.0 * 2 * 8 * (8.0 * 8 + 8 * 32));
}

TEST_CASE("The peak is the highest of three moments, not the sum of all terms") {
  plan wanted;
  wanted.model = "gpt2";
  wanted.shape = find_preset("gpt2");
  wanted.batch = 4;
  wanted.sequence = 128;
  const auto small = make_estimate(wanted);
  CHECK(small.peak() == small.step);
  wanted.batch = 64;
  const auto large = make_estimate(wanted);
  CHECK(large.peak() == large.begin);
  CHECK(large.step == small.step);
  double sum = 0;
  for (const auto& one : large.terms) sum += one.bytes;
  CHECK(large.peak() < sum);
}

TEST_CASE("The loss takes 12 bytes for each token and word, of models that make 32-bit logits") {
  plan wanted;
  wanted.shape = find_preset("gpt2");
  wanted.batch = 8;
  wanted.sequence = 1024;
  for (const auto how : {precision::fp32, precision::amp, precision::half}) {
    wanted.how = how;
    const auto with = make_estimate(wanted);
    wanted.logits = false;
    const auto without = make_estimate(wanted);
    wanted.logits = true;
    CHECK(with.begin - without.begin == 12.0 * 8 * 1024 * 50257);
  }
}

TEST_CASE("The largest batch is the last one that is within the share") {
  plan wanted;
  wanted.shape = find_preset("bert-base");
  wanted.sequence = 512;
  constexpr std::uint64_t total = std::uint64_t{24} << 30;
  const auto found = fit_on(wanted, "some", total);
  REQUIRE(found.largest_batch > 1);
  CHECK(found.how == fit::room);
  CHECK(peak_at(wanted, found.largest_batch) <= target_high * total);
  CHECK(peak_at(wanted, found.largest_batch + 1) > target_high * total);
  CHECK(peak_at(wanted, found.batch_at_the_end) <= total);
  CHECK(peak_at(wanted, found.batch_at_the_end + 1) > total);
  // Weights, gradients and states alone do not fit: no batch does.
  CHECK(fit_on(wanted, "tiny", std::uint64_t{1} << 30).largest_batch == 0);
  CHECK(fit_on(wanted, "tiny", std::uint64_t{1} << 30).how == fit::no);
}

TEST_CASE("Checkpointed layers are computed again when the loss is gone") {
  plan wanted;
  wanted.shape = find_preset("gpt2");
  wanted.batch = 8;
  wanted.sequence = 512;
  wanted.checkpointing = true;
  const auto with_loss = make_estimate(wanted);
  wanted.logits = false;
  const auto without = make_estimate(wanted);
  // The loss, 12 bytes for each token and word, is the larger of the two here.
  const double loss = 12.0 * 8 * 512 * 50257;
  double layer = 0;
  for (const auto& one : without.terms) layer += one.id == "recomputed" ? one.bytes : 0;
  REQUIRE(loss > layer);
  REQUIRE(layer > 0);
  CHECK(with_loss.begin - without.begin == loss - layer);
}

TEST_CASE("Frozen linear layers keep no inputs for their weights") {
  const auto shape = *find_preset("gpt2");
  const auto all = activations(shape, one_of(1, 16), precision::fp32, true);
  const auto adapted =
      activations(shape, one_of(1, 16), precision::fp32, true, trained_part::adapters_in_attention);
  // The inputs of both matrices of the feed-forward part: h and 4 h elements.
  CHECK(all.layers - adapted.layers == 12 * 4.0 * 16 * (768 + 3072));
  const auto everywhere =
      activations(shape, one_of(1, 16), precision::fp32, true, trained_part::adapters_in_all);
  CHECK(everywhere.layers == all.layers);
}
