// SPDX-License-Identifier: Apache-2.0
//
// A smaller evaluation batch, where evaluation sets the peak: results do not depend on it. The
// smallest division by a power of two after which training sets the peak.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::action;
using allocator::block_number;
using attribution::phase;

namespace {

// Allocated bytes, highest in training and in evaluation, if what scales with the evaluation batch
// is divided.
struct peaks {
  std::uint64_t training = 0;
  std::uint64_t evaluation = 0;
};

[[nodiscard]] peaks peaks_with(const blocks::evidence& of, const blocks::run_passes& passes,
                               const std::vector<bool>& scales, std::uint32_t parts) {
  peaks found;
  std::uint64_t now = 0;
  const auto bytes = [&](block_number block) {
    return bytes_of(of, block) / (scales[block] ? parts : 1);
  };
  for (const auto& request : of.log.requests) {
    if (request.block >= scales.size()) continue;
    if (request.what() == action::free) now -= std::min(now, bytes(request.block));
    if (request.what() != action::allocate) continue;
    now += bytes(request.block);
    const bool evaluates = passes.of_block[request.block] == blocks::activity::evaluation;
    auto& highest = evaluates ? found.evaluation : found.training;
    highest = std::max(highest, now);
  }
  return found;
}

// How much larger an evaluation's batch is than a training step's: by the largest blocks that the
// same modules make in both. 0: cannot be compared.
[[nodiscard]] double batch_ratio(const blocks::evidence& of) {
  struct largest {
    std::uint64_t training = 0;
    std::uint64_t evaluation = 0;
  };
  std::map<trace::object_id, largest> modules;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (!facts.module || facts.cast_copy) continue;
    if (facts.born_in != phase::forward && facts.born_in != phase::evaluation) continue;
    auto& module = modules[facts.module];
    auto& most = facts.born_in == phase::forward ? module.training : module.evaluation;
    most = std::max(most, bytes_of(of, block));
  }
  double training = 0;
  double evaluation = 0;
  for (const auto& [module, most] : modules) {
    if (most.training == 0 || most.evaluation == 0) continue;
    training += static_cast<double>(most.training);
    evaluation += static_cast<double>(most.evaluation);
  }
  return training == 0 ? 0 : evaluation / training;
}

[[nodiscard]] std::uint32_t parts_until_training_is_highest(const blocks::evidence& of,
                                                            const blocks::run_passes& passes,
                                                            const std::vector<bool>& scales,
                                                            std::uint32_t most_parts) {
  for (std::uint32_t parts = 2; parts < most_parts; parts *= 2) {
    const auto then = peaks_with(of, passes, scales, parts);
    if (then.evaluation <= then.training) return parts;
    const auto further = peaks_with(of, passes, scales, parts * 2);
    const bool hardly_less =
        then.evaluation - std::min(then.evaluation, further.evaluation) < then.evaluation / 50;
    if (hardly_less) return parts;
  }
  return most_parts;
}

[[nodiscard]] std::string what_to_write(const blocks::evidence& of,
                                        const blocks::run_passes& passes, std::uint32_t parts,
                                        const std::string& line) {
  if (owner_of_loop(of, passes) == loop_owner::transformers) {
    return fmt::format("per_device_eval_batch_size divided by {}", parts);
  }
  const auto where = line.empty() ? std::string() : fmt::format(" (most is made at {})", line);
  return fmt::format("{} divided by {}{}", passes.trains() ? "evaluation batch size" : "batch size",
                     parts, where);
}

// A model that is not trained runs while the graph of another one is kept: the teacher of a distillation.
[[nodiscard]] bool is_within_training(const blocks::evidence& of, const blocks::run_passes& passes,
                                      block_number block) {
  const auto birth = birth_event(of, block);
  if (passes.unfinished && birth > *passes.unfinished) return true;
  const auto pass = passes.at(birth);
  return pass && birth < passes.training[*pass].backward;
}

void say_in_training(const blocks::evidence& of, block_number largest, std::uint32_t parts,
                     proposal& made) {
  const auto facts = of.blocks[largest];
  const auto known = of.modules.find(facts.root);
  const auto line = line_that_calls_model(of, facts.stack);
  made.id = "untrained_call";
  made.title = "A model that is not trained runs while the graph of another one is kept";
  made.change = fmt::format(
      "the call of the {}{} in {} parts: torch.cat([model(part) for part in inputs.chunk({})]); "
      "or, at no cost and with a saving of its own, before the forward pass of the model that is "
      "trained, if it takes none of its results",
      known == of.modules.end() ? "model" : of.names[known->second.type],
      line.empty() ? "" : " at " + line, parts, parts);
  made.cost = "in parts: slower where they no longer fill the GPU";
  made.not_when =
      "in parts: the batch is a single sample, or batch normalisation in the model's training mode";
}

// What was there when memory ran out, and the request that was refused, if it is in proportion to the batch.
struct at_refusal {
  std::uint64_t held = 0;
  std::uint64_t scaled = 0;
  std::uint64_t most_of_others = 0;  // of one category
  std::uint64_t refused = 0;         // 0: not in proportion

  // It is because of the batch.
  [[nodiscard]] bool by_batch() const { return refused != 0 || scaled > held / 2; }
  [[nodiscard]] bool is_most() const { return refused != 0 && scaled + refused > most_of_others; }
};

[[nodiscard]] std::optional<at_refusal> when_memory_ran_out(const blocks::evidence& of,
                                                            const std::vector<bool>& scales) {
  const auto refused = fatal_refusal(of);
  if (!refused || of.log.allocations[*refused] == 0) return std::nullopt;
  at_refusal found;
  if (scales[*refused]) found.refused = bytes_of(of, *refused);
  std::map<attribution::category, std::uint64_t> others;
  for (const auto block : alive_after(of, of.log.allocations[*refused] - 1)) {
    const auto bytes = bytes_of(of, block);
    found.held += bytes;
    auto& sum = scales[block] ? found.scaled : others[of.blocks[block].what];
    sum += bytes;
    if (!scales[block]) found.most_of_others = std::max(found.most_of_others, sum);
  }
  return found;
}

}  // namespace

proposals evaluation_batch(const blocks::evidence& of) {
  const auto passes = passes_of(of);
  if (!passes.evaluates) return {};
  const bool only_evaluates = !passes.trains();
  const auto scales = scales_with_batch(of, passes, blocks::activity::evaluation);
  const auto refusal = when_memory_ran_out(of, scales);
  if (only_evaluates && !(refusal && refusal->by_batch())) return {};
  const auto now = peaks_with(of, passes, scales, 1);
  if (now.evaluation <= now.training) return {};
  constexpr std::uint32_t enough = 8;
  const auto most_parts =
      std::min(enough, most_parts_of_batch(of, passes, blocks::activity::evaluation));
  if (most_parts < 2) return {};
  const auto parts = parts_until_training_is_highest(of, passes, scales, most_parts);
  block_number largest = 0;
  std::uint64_t most = 0;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (!scales[block] || bytes_of(of, block) <= most) continue;
    most = bytes_of(of, block);
    largest = block;
  }
  const auto stack = most == 0 ? trace::stack_id() : of.blocks[largest].stack;
  proposal made;
  made.id = only_evaluates ? "call_batch" : "evaluation_batch";
  made.group = "evaluation_batch";
  made.amount = fmt::format("1/{}", parts);
  made.title = only_evaluates ? "A call computes more at once than there is room for"
                              : "Evaluation needs more memory than training";
  made.change = what_to_write(of, passes, parts, line_of(of, stack));
  const auto ratio = batch_ratio(of);
  made.evidence = fmt::format("evaluation allocates up to {}", bytes_in_words(now.evaluation));
  if (!only_evaluates) {
    made.evidence += fmt::format(", training up to {}", bytes_in_words(now.training));
  }
  if (ratio > 0) {
    made.evidence +=
        fmt::format("; what its modules make is {} times as large",
                    ratio < 10 ? fmt::format("{:.2g}", ratio) : fmt::format("{:.0f}", ratio));
  }
  if (refusal && refusal->is_most()) {
    made.about = {
        refusal->scaled + refusal->refused,
        only_evaluates ? "are made of one batch" : "are what the evaluation computes at once",
        true};
  }
  made.source = "blocks of an evaluation in proportion to its batch";
  made.cost = "more and smaller batches in evaluation: slower where they no longer fill the GPU";
  made.not_when =
      "a batch is a single sample already; metrics are averaged over batches instead of over "
      "samples";
  if (!only_evaluates && most != 0 && is_within_training(of, passes, largest))
    say_in_training(of, largest, parts, made);
  made.device = of.log.device;
  made.stack = stack;
  made.rewrite = [&of, parts](allocator::request_log& log) {
    const auto scaled = scales_with_batch(of, passes_of(of), blocks::activity::evaluation);
    request_edits edits;
    for (block_number block = 0; block < scaled.size(); ++block) {
      if (scaled[block]) edits.scale(block, 1, parts);
    }
    edits.apply(log);
  };
  return {made};
}

}  // namespace memtrace::advice
