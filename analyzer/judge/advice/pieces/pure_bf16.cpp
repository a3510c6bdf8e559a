// SPDX-License-Identifier: Apache-2.0
//
// Everything in bfloat16, weights, gradients and optimizer states included.
#include <fmt/core.h>

#include <algorithm>

#include "analyzer/judge/advice/passes.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/advice/request_edits.h"

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
  if (!passes.trains() || of.attributed.autocast || !computes_in_bfloat16(of)) return {};
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
  if (weights == 0) return {};
  proposal made;
  made.changes_results = true;
  made.id = "pure_bf16";
  made.group = "precision";
  made.amount = "bfloat16";
  made.title = "Weights, gradients and optimizer states are in 32 bits";
  made.change =
      "model.to(torch.bfloat16) before the optimizer is made, and floating-point inputs "
      "with it";
  made.evidence = fmt::format(
      "{} of the {} allocated at the peak are floating-point numbers of 32 "
      "bits, {} of them weights",
      bytes_in_words(halved), bytes_in_words(all), bytes_in_words(weights));
  made.source = "every floating-point block at half its size";
  made.cost =
      "accuracy: updates smaller than 1/256 of a weight are lost (8 bits of mantissa) without "
      "stochastic rounding or Kahan summation";
  made.not_when = "training from scratch, or small learning rates; then mixed precision";
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
