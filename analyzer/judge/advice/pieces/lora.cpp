// SPDX-License-Identifier: Apache-2.0
//
// Adapters instead of all weights: gradients and states of low-rank factors alone.
#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/advice/model_parts.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/model/estimate/sources.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

constexpr std::uint32_t factor_rank = 16;
// The least width of a linear layer that an adapter makes sense for.
constexpr std::uint32_t least_width = 4 * factor_rank;
constexpr std::size_t least_layers = 4;

[[nodiscard]] bool is_adapted(const weight_shape* shape) {
  return shape != nullptr && shape->rows >= least_width && shape->columns >= least_width;
}

// The two factors of a matrix, in place of the matrix.
struct share {
  std::uint32_t numerator = 0;
  std::uint32_t denominator = 1;
};
[[nodiscard]] share factors_of(const weight_shape& shape) {
  const auto whole = std::uint64_t{shape.rows} * shape.columns;
  return {factor_rank * (shape.rows + shape.columns),
          static_cast<std::uint32_t>(std::min<std::uint64_t>(whole, 0xffffffffu))};
}

void scale_or_drop(block_number block, const weight_shape* shape, request_edits& edits) {
  if (!is_adapted(shape)) {
    edits.drop(block);
    return;
  }
  const auto part = factors_of(*shape);
  edits.scale(block, part.numerator, part.denominator);
}

void freeze(const blocks::evidence& of, request_edits& edits) {
  const weight_shapes shapes(of);
  const auto like_parameters = shaped_like_parameters(of);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    const auto* const shape = shapes.of(facts);
    if (facts.what == category::gradients || facts.what == category::optimizer_states) {
      scale_or_drop(block, shape, edits);
    } else if (like_parameters[block]) {
      edits.drop(block);
    } else if (facts.what == category::weights && is_adapted(shape)) {
      const auto part = factors_of(*shape);
      const auto adapter =
          edits.allocate(birth_event(of, block), block, part.numerator, part.denominator);
      edits.free(adapter, death_event(of, block));
    }
  }
  for (const auto block : optimizer_blocks_of(of).temporaries) edits.drop(block);
}

// The parameters that are trained now.
struct trained {
  std::uint64_t weights = 0;
  std::uint64_t states = 0;
  std::size_t matrices = 0;
};
[[nodiscard]] trained look(const blocks::evidence& of) {
  const weight_shapes shapes(of);
  trained found;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.what == category::weights) {
      found.weights += bytes_of(of, block);
      if (is_adapted(shapes.of(facts))) ++found.matrices;
    }
    if (facts.what == category::optimizer_states) found.states += bytes_of(of, block);
  }
  return found;
}

// Adapters are for transformers that were trained before; a network without attention is trained
// from scratch, as a rule.
[[nodiscard]] bool has_attention(const blocks::evidence& of) {
  return std::any_of(of.modules.begin(), of.modules.end(), [&](const auto& module) {
    return of.names[module.second.type].find("Attention") != std::string_view::npos;
  });
}

}  // namespace

proposals lora(const blocks::evidence& of) {
  const auto now = look(of);
  const auto& run = of.attributed;
  // Adapters, or a head alone, are trained already.
  const bool trains_most = run.trainable_bytes * 2 > run.parameter_bytes;
  if (now.matrices < least_layers || !trains_most || of.step_ends.empty()) return {};
  if (!has_attention(of)) return {};
  proposal made;
  made.id = "lora";
  made.amount = fmt::format("r={}", factor_rank);
  made.title = "All weights are trained: each has a gradient and the optimizer's states";
  made.change = fmt::format(
      "peft.get_peft_model(model, LoraConfig(r={}, target_modules=\"all-linear\")), and only "
      "parameters with requires_grad to the optimizer",
      factor_rank);
  made.evidence = fmt::format("{} of {} in weights are trained, with {} of states",
                              bytes_in_words(run.trainable_bytes),
                              bytes_in_words(run.parameter_bytes), bytes_in_words(now.states));
  made.source = estimate::citation(estimate::source::lora);
  made.cost = "other results than with full fine-tuning, on some tasks worse; an adapter to merge";
  made.not_when = "the model is trained from scratch, or has to learn much that is new";
  made.changes_results = true;
  made.device = of.log.device;
  made.rewrite = [&of](allocator::request_log& log) {
    request_edits edits;
    freeze(of, edits);
    edits.apply(log);
  };
  return {std::move(made)};
}

}  // namespace memtrace::advice
