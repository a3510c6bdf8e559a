// SPDX-License-Identifier: Apache-2.0
//
// Everything in bfloat16, weights, gradients and optimizer states included; an evaluation's weights
// and results in float16 where the GPU does not compute in bfloat16.
#include <fmt/core.h>

#include <algorithm>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

// Integers, masks and what the program gives the model keep their width.
[[nodiscard]] bool is_halved(const blocks::block_facts& facts) {
  if (facts.element_bits != 0 && facts.element_bits != 32) return false;
  switch (facts.what) {
    case category::weights:
    case category::buffers:
    case category::gradients:
    case category::optimizer_states:
    case category::activations:
    case category::outputs:
    case category::kv_cache:
    case category::collected:
      return true;
    case category::temporaries:
      return facts.born_in == phase::forward || facts.born_in == phase::backward ||
             facts.born_in == phase::optimizer || facts.born_in == phase::evaluation;
    default:
      return false;
  }
}

}  // namespace

proposals pure_bf16(const blocks::evidence& of) {
  const auto passes = passes_of(of);
  const bool trains = passes.trains();
  const bool brain = computes_in_bfloat16(of);
  // Without a scaler gradients in float16 vanish.
  if (trains ? !brain : !passes.evaluates) return {};
  if (of.attributed.autocast) return {};
  std::uint64_t weights = 0;
  std::uint64_t halved = 0;
  std::uint64_t all = 0;
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    const auto& facts = of.blocks[block];
    all += bytes_of(of, block);
    if (!is_halved(facts)) continue;
    halved += bytes_of(of, block);
    if (facts.what == category::weights && facts.element_bits == 32) weights += bytes_of(of, block);
  }
  // What an evaluation computes shrinks with its batch, without a loss, if that is more than one sample.
  const bool shrinks = !trains && weights <= all / 2 &&
                       most_parts_of_batch(of, passes, blocks::activity::evaluation) > 1;
  if (weights == 0 || shrinks) return {};
  proposal made;
  made.changes_results = true;
  made.id = "pure_bf16";
  made.group = "precision";
  made.amount = brain ? "bfloat16" : "float16";
  made.title =
      trains ? "Weights, gradients and optimizer states are in 32 bits" : "Weights are in 32 bits";
  made.change =
      fmt::format("model.to(torch.{}) before {}, and floating-point inputs with it", made.amount,
                  trains ? "the optimizer is made" : "it is moved to the GPU");
  made.evidence = fmt::format(
      "{} of the {} allocated at the peak are floating-point numbers of 32 "
      "bits, {} of them weights",
      bytes_in_words(halved), bytes_in_words(all), bytes_in_words(weights));
  made.source = "every floating-point block at half its size";
  made.cost = trains  ? "accuracy: updates smaller than 1/256 of a weight are lost (8 bits of "
                        "mantissa) without stochastic rounding or Kahan summation"
              : brain ? "accuracy: results are rounded to 8 bits of mantissa"
                      : "accuracy: results are rounded to 11 bits of mantissa; what exceeds 65,504 "
                        "is infinite";
  made.not_when = trains ? "training from scratch, or small learning rates; then mixed precision"
                         : "results have to be as exact as in 32 bits";
  made.device = of.log.device;
  made.rewrite = [&of](allocator::request_log& log) {
    request_edits edits;
    for (block_number block = 0; block < of.blocks.size(); ++block) {
      if (is_halved(of.blocks[block])) edits.scale(block, 1, 2);
    }
    edits.apply(log);
  };
  return {made};
}

}  // namespace memtrace::advice
