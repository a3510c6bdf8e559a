// SPDX-License-Identifier: Apache-2.0
//
// Other optimizers than Adam in 32 bits: moments of 8 bits, factored ones, or one moment instead of
// two.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "analyzer/judge/advice/model_parts.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/model/estimate/sources.h"

namespace memtrace::advice {

using allocator::block_number;

namespace {

// bitsandbytes leaves states of fewer elements (min_8bit_size) in 32 bits.
constexpr std::uint64_t least_quantized = 4096;
// A byte an element, and 4 for each block of 256 elements: in 1/256 of a byte.
constexpr std::uint32_t quantized_element = 260;
// Where a matrix's width is not known (an embedding): rows and columns over elements, at most.
constexpr std::uint32_t factors_of_unknown = 64;
constexpr std::uint64_t least_matrix = 4096;
// Steps are alike: so many get Adafactor's temporaries.
constexpr std::size_t most_steps = 32;

[[nodiscard]] std::uint32_t bytes_of_element(const weight_shape* shape) {
  return shape == nullptr ? 4 : std::max<std::uint32_t>(1, shape->element_bits / 8u);
}

// Whether most of what the optimizer has moments of gets gradients of some rows alone, as an embedding with
// sparse=True: no backward pass makes anything of its size, nor of half of it, as in 16 bits. Other
// optimizers refuse them, or make momentum buffers that grow.
[[nodiscard]] bool has_sparse_gradients(const blocks::evidence& of,
                                        const std::vector<block_number>& moments) {
  std::set<std::uint64_t> sizes;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    const bool is_made = facts.born_in == attribution::phase::backward ||
                         facts.what == attribution::category::gradients;
    if (is_made) sizes.insert(bytes_of(of, block));
  }
  std::uint64_t sparse = 0;
  std::uint64_t dense = 0;
  for (const auto block : moments) {
    const auto bytes = bytes_of(of, block);
    (sizes.contains(bytes) || sizes.contains(bytes / 2) ? dense : sparse) += bytes;
  }
  return sparse > dense;
}

void drop_all(const std::vector<block_number>& blocks, request_edits& edits) {
  for (const auto block : blocks) edits.drop(block);
}

void quantize(const blocks::evidence& of, request_edits& edits) {
  const auto blocks = optimizer_blocks_of(of);
  const weight_shapes weights(of);
  for (const auto* const moments : {&blocks.first_moments, &blocks.second_moments}) {
    for (const auto block : *moments) {
      const auto element = bytes_of_element(weights.of(of.blocks[block]));
      if (bytes_of(of, block) / element < least_quantized) continue;
      edits.scale(block, quantized_element, 256 * element);
    }
  }
  drop_all(blocks.temporaries, edits);
}

// torch.optim.Adafactor's loop makes the estimate of each parameter's second moments as large as
// the parameter, while that of the one before is still there.
void estimate_in_steps(const blocks::evidence& of, const std::vector<block_number>& weights,
                       request_edits& edits) {
  for (std::size_t i = 0; i < std::min(of.step_ends.size(), most_steps); ++i) {
    const auto step = of.step_ends[i];
    if (step >= of.log.events.size()) return;
    const auto event = of.log.events[step];
    std::optional<request_edits::added> before;
    for (const auto weight : weights) {
      const auto now = edits.allocate(event, weight);
      if (before) edits.free(*before, event);
      before = now;
    }
    if (before) edits.free(*before, event);
  }
}

// No first moment; of the second a row and a column in 32 bits.
void factor(const blocks::evidence& of, request_edits& edits) {
  const auto blocks = optimizer_blocks_of(of);
  const weight_shapes weights(of);
  drop_all(blocks.first_moments, edits);
  drop_all(blocks.temporaries, edits);
  std::vector<block_number> updated;
  for (const auto block : blocks.second_moments) {
    const auto* const shape = weights.of(of.blocks[block]);
    const auto bytes = bytes_of(of, block);
    if (shape != nullptr) updated.push_back(shape->block);
    if (shape != nullptr && shape->rows != 0 && bytes <= 0xffffffffu) {
      edits.scale(block, 4 * (shape->rows + shape->columns), static_cast<std::uint32_t>(bytes));
    } else if (bytes / bytes_of_element(shape) >= least_matrix) {
      edits.scale(block, 1, factors_of_unknown);
    }
  }
  estimate_in_steps(of, updated, edits);
}

void keep_one_moment(const blocks::evidence& of, request_edits& edits) {
  const auto blocks = optimizer_blocks_of(of);
  drop_all(blocks.second_moments, edits);
  drop_all(blocks.temporaries, edits);
}

[[nodiscard]] proposal common(const blocks::evidence& of, const optimizer_blocks& blocks) {
  proposal made;
  made.group = "optimizer";
  made.title = "Adam's moments are as large as the weights twice over";
  made.evidence = fmt::format("{} of moments in {} tensors", bytes_in_words(blocks.moment_bytes),
                              blocks.first_moments.size() + blocks.second_moments.size());
  made.about = {blocks.moment_bytes, "are optimizer states"};
  if (blocks.most_temporary_bytes != 0) {
    made.evidence += fmt::format(", and {} of temporaries in each step",
                                 bytes_in_words(blocks.most_temporary_bytes));
  }
  made.device = of.log.device;
  return made;
}

template <class Edit>
[[nodiscard]] std::function<void(allocator::request_log&)> rewriting(const blocks::evidence& of,
                                                                     Edit edit) {
  return [&of, edit](allocator::request_log& log) {
    request_edits edits;
    edit(of, edits);
    edits.apply(log);
  };
}

}  // namespace

proposals optimizer_choice(const blocks::evidence& of) {
  const auto blocks = optimizer_blocks_of(of);
  if (!blocks.is_adam() || has_sparse_gradients(of, blocks.first_moments)) return {};
  auto quantized = common(of, blocks);
  quantized.id = "optimizer_8bit";
  quantized.change =
      "bitsandbytes.optim.Adam8bit(model.parameters(), …) instead of Adam, AdamW8bit instead of "
      "AdamW; "
      "with transformers' Trainer optim=\"adamw_bnb_8bit\"";
  quantized.source = estimate::citation(estimate::source::eight_bit);
  quantized.cost =
      "a further library; the paper found the same accuracy, with 32-bit states for embeddings";
  quantized.not_when =
      "states are read by other code, or checkpoints of the optimizer are shared with 32-bit runs";
  quantized.rewrite = rewriting(of, quantize);

  auto factored = common(of, blocks);
  factored.id = "optimizer_adafactor";
  factored.change = "torch.optim.Adafactor(model.parameters(), lr=…, foreach=False)";
  factored.source = estimate::citation(estimate::source::adafactor);
  factored.cost =
      "no momentum: learning rate and warm-up have to be found anew, and results can be worse";
  factored.not_when = "a pretraining recipe's results have to be reproduced";
  factored.changes_results = true;
  factored.rewrite = rewriting(of, factor);

  auto momentum = common(of, blocks);
  momentum.id = "optimizer_sgd";
  momentum.amount = "momentum=0.9";
  momentum.change = "torch.optim.SGD(model.parameters(), lr=…, momentum=0.9)";
  momentum.source = estimate::citation(estimate::source::torch_optim);
  momentum.cost = "slower convergence, often none worth having on transformers";
  momentum.not_when = "training transformers from scratch";
  momentum.changes_results = true;
  momentum.rewrite = rewriting(of, keep_one_moment);
  return {std::move(quantized), std::move(factored), std::move(momentum)};
}

}  // namespace memtrace::advice
