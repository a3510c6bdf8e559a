// SPDX-License-Identifier: Apache-2.0
//
// A smaller training batch, with gradient accumulation, or more of it, that keeps the effective one.
// What scales with the batch shrinks; gradients are then there through the forward of all
// micro-batches but the first.
#include <fmt/core.h>

#include <algorithm>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/advice/model_parts.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;

namespace {

void scale_batch(const blocks::evidence& of, std::uint32_t parts, request_edits& edits) {
  const auto passes = passes_of(of);
  const auto scales = scales_with_batch(of, passes, blocks::activity::training);
  for (block_number block = 0; block < scales.size(); ++block) {
    if (scales[block]) edits.scale(block, 1, parts);
  }
}

// From the forward's begin the gradients of the micro-batch before are there; what backward makes
// is added to them and goes.
void keep_gradients(const blocks::evidence& of, request_edits& edits) {
  const auto passes = passes_of(of);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (of.blocks[block].what != category::gradients) continue;
    const auto birth = birth_event(of, block);
    const auto pass = passes.at(birth);
    if (!pass || birth >= passes.training[*pass].end) continue;
    const auto before = edits.allocate(passes.training[*pass].forward, block);
    edits.free(before, birth + 1);
  }
  if (passes.unfinished && passes.training.empty()) expect_gradients(of, *passes.unfinished, edits);
}

[[nodiscard]] std::string what_to_write(const blocks::evidence& of,
                                        const blocks::run_passes& passes, std::uint32_t parts) {
  const auto option = batch_option(of, passes);
  const auto now = option.empty() ? std::string() : fmt::format(" (now {})", option);
  switch (owner_of_loop(of, passes)) {
    case loop_owner::transformers:
      return fmt::format(
          "per_device_train_batch_size divided by {0}{1}, gradient_accumulation_steps times {0}",
          parts, now);
    case loop_owner::lightning:
      return fmt::format(
          "batch size divided by {0}{1}, Trainer(accumulate_grad_batches={0}) or "
          "times {0}",
          parts, now);
    case loop_owner::program:
      break;
  }
  if (const auto count = micro_batches(of, passes); count > 1) {
    return fmt::format(
        "micro-batches of {} the size{}: {} a step instead of {}; (loss / {}).backward() where it "
        "is (loss / {}) now",
        parts == 2 ? "half" : "a quarter of", now, count * parts, count, count * parts, count);
  }
  // No backward pass has run so far: the program may be one that trains nothing.
  return fmt::format(
      "batch size divided by {0}{1}; {2}(loss / {0}).backward() for each of {0} micro-batches, "
      "then optimizer.step() and optimizer.zero_grad() once",
      parts, now, passes.training.empty() ? "if this is training, " : "");
}

[[nodiscard]] proposal propose(const blocks::evidence& of, const blocks::run_passes& passes,
                               const std::string& figures, std::uint32_t parts) {
  proposal made;
  // The words of the one are no news where gradients are accumulated already.
  const bool accumulates = micro_batches(of, passes) > 1;
  made.id = parts == 2 ? (accumulates ? "micro_batch_half" : "train_batch_half")
                       : (accumulates ? "micro_batch_quarter" : "train_batch_quarter");
  made.group = "train_batch";
  made.amount = fmt::format("1/{}", parts);
  made.title = "What a training step computes at once grows with its batch";
  made.change = what_to_write(of, passes, parts);
  made.evidence = figures;
  made.source =
      "blocks of forward and backward in proportion to the batch (Megatron-LM, arXiv 2205.05198, "
      "section 4.1), parameters, gradients and states not; gradients kept from one micro-batch to "
      "the next";
  made.cost =
      fmt::format("{} smaller passes for each step: slower where they no longer fill the GPU",
                  parts * micro_batches(of, passes));
  // In parts of the batch it would compute something else.
  made.changes_results = calls_function(of, passes, "batch_norm");
  if (made.changes_results)
    made.cost += "; batch normalisation sees the micro-batch only, so that results differ";
  made.not_when =
      "a loss over pairs of the batch (contrastive, in-batch negatives) sees the micro-batch only; "
      "losses averaged over unequal numbers of tokens need weights";
  made.device = of.log.device;
  made.rewrite = [&of, parts](allocator::request_log& log) {
    request_edits edits;
    scale_batch(of, parts, edits);
    keep_gradients(of, edits);
    edits.apply(log);
  };
  return made;
}

}  // namespace

proposals train_batch(const blocks::evidence& of) {
  const auto passes = passes_of(of);
  if (!passes.trains()) return {};
  const auto most_parts = most_parts_of_batch(of, passes, blocks::activity::training);
  if (most_parts < 2) return {};
  const auto scales = scales_with_batch(of, passes, blocks::activity::training);
  std::uint64_t scaling = 0;
  std::uint64_t all = 0;
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    all += bytes_of(of, block);
    if (scales[block]) scaling += bytes_of(of, block);
  }
  if (scaling == 0) return {};
  const auto figures = fmt::format(
      "{} of the {} allocated at the peak ({}) are activations, inputs and scratch memory of one "
      "batch",
      bytes_in_words(scaling), bytes_in_words(all), share_in_words(scaling, all));
  proposals made = {propose(of, passes, figures, 2)};
  if (most_parts >= 4) made.push_back(propose(of, passes, figures, 4));
  return made;
}

}  // namespace memtrace::advice
