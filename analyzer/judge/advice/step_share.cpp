// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/step_share.h"

#include <fmt/core.h>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/advice/known_shape.h"
#include "analyzer/judge/advice/passes.h"
#include "analyzer/model/estimate/activations.h"
#include "analyzer/model/estimate/loss.h"

namespace memtrace::advice {

using attribution::category;

namespace {

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
  const auto training = scales_with_batch(of, passes, activity::training);
  const auto evaluation = scales_with_batch(of, passes, activity::evaluation);
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
