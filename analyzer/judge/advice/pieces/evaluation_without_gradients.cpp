// SPDX-License-Identifier: Apache-2.0
//
// Forwards whose activations autograd keeps although no backward pass follows: evaluation without
// torch.inference_mode() or torch.no_grad().
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/last_uses.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

void free_after_use(const blocks::evidence& of, request_edits& edits) {
  const auto calls = passes_of(of).without_backward;
  const auto ends = ends_of_use_in_forward(of);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (!facts.kept_by_autograd || facts.what != category::activations) continue;
    if (!calls.contains(facts.call) || ends[block] == 0) continue;
    if (ends[block] < death_event(of, block)) edits.free_at(block, ends[block]);
  }
}

// Of all these calls that are there at the peak.
[[nodiscard]] std::uint64_t kept_at_peak(const blocks::evidence& of,
                                         const std::map<std::uint32_t, std::uint64_t>& calls) {
  std::uint64_t bytes = 0;
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    const auto facts = of.blocks[block];
    const bool is_kept = facts.kept_by_autograd && facts.what == category::activations;
    if (is_kept && calls.contains(facts.call)) bytes += bytes_of(of, block);
  }
  return bytes;
}

// Whether a call that trains comes from this line, too.
[[nodiscard]] bool is_trained_from(const blocks::evidence& of, const blocks::run_passes& passes,
                                   const std::string& line) {
  std::set<trace::stack_id> seen;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    const bool trains = passes.of_block[block] == blocks::activity::training &&
                        facts.kept_by_autograd && facts.born_in == phase::forward &&
                        facts.freed_in_backward && !passes.without_backward.contains(facts.call);
    if (trains && seen.insert(facts.stack).second && line_that_calls_model(of, facts.stack) == line)
      return true;
  }
  return false;
}

[[nodiscard]] std::string what_to_write(const blocks::evidence& of,
                                        const blocks::run_passes& passes, trace::stack_id stack) {
  const auto line = line_that_calls_model(of, stack);
  if (!line.empty() && is_trained_from(of, passes, line)) {
    return fmt::format(
        "with torch.set_grad_enabled(training): around the call of the model at {}, where "
        "`training` stands for what is true only if a backward pass follows: the same line trains "
        "the model",
        line);
  }
  return fmt::format(
      "with torch.no_grad(): around the call of the model{}, or @torch.no_grad() on its function "
      "(torch.inference_mode() where no later graph takes its results)",
      line.empty() ? "" : " at " + line);
}

}  // namespace

proposals evaluation_without_gradients(const blocks::evidence& of) {
  const auto passes = passes_of(of);
  const auto& calls = passes.without_backward;
  if (calls.empty()) return {};
  const auto largest = std::max_element(
      calls.begin(), calls.end(),
      [](const auto& left, const auto& right) { return left.second < right.second; });
  trace::stack_id stack;
  for (block_number block = 0; block < of.blocks.size() && !stack; ++block) {
    if (of.blocks[block].call == largest->first) stack = of.blocks[block].stack;
  }
  proposal made;
  made.id = "evaluation_without_gradients";
  made.title = "Autograd keeps activations of forwards that no backward pass follows";
  made.change = what_to_write(of, passes, stack);
  made.evidence =
      fmt::format("{} call{} of a model left up to {} kept for a backward pass that never came",
                  calls.size(), calls.size() == 1 ? "" : "s", bytes_in_words(largest->second));
  if (calls.size() == 1 && passes.failed_elsewhere) {
    made.title = "A forward pass in another line than those that train keeps activations";
    made.evidence = fmt::format(
        "the call in which memory ran out keeps {} for a backward pass; the {} passes that trained "
        "the model begin in another line",
        bytes_in_words(largest->second), passes.training.size());
  }
  made.about = {std::max(kept_at_peak(of, calls), largest->second),
                passes.failed_elsewhere == largest->first
                    ? "are activations of a call in another line than the training"
                    : "are activations that no backward pass uses"};
  made.source =
      "without a graph each activation lives until the module after the one that made it is done";
  made.free = true;
  made.cost = "none known";
  made.not_when = "gradients of these calls are wanted after all";
  made.device = of.log.device;
  made.stack = stack;
  made.rewrite = [&of](allocator::request_log& log) {
    request_edits edits;
    free_after_use(of, edits);
    edits.apply(log);
  };
  return {made};
}

}  // namespace memtrace::advice
