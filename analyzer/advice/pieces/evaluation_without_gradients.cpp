// SPDX-License-Identifier: Apache-2.0
//
// Forwards whose activations autograd keeps although no backward pass follows: evaluation without
// torch.inference_mode() or torch.no_grad().
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "analyzer/advice/forward_calls.h"
#include "analyzer/advice/passes.h"
#include "analyzer/advice/pieces.h"
#include "analyzer/advice/program_words.h"
#include "analyzer/advice/request_edits.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

// Calls of a root module from which no backward pass took anything: everything that autograd kept
// was gone before the next backward pass began.
[[nodiscard]] std::map<std::uint32_t, std::uint64_t> calls_without_backward(
    const evidence& of, const run_passes& passes) {
  std::map<std::uint32_t, std::uint64_t> kept;  // bytes by call; 0: a backward pass used it
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.call == 0 || facts.born_in != phase::forward || facts.recomputed) continue;
    if (!facts.kept_by_autograd || facts.what != category::activations) continue;
    const auto next = std::upper_bound(
        passes.training.begin(), passes.training.end(), birth_event(of, block),
        [](std::uint64_t event, const training_pass& pass) { return event < pass.backward; });
    const bool used = next != passes.training.end() && death_event(of, block) > next->backward;
    const auto [call, fresh] = kept.try_emplace(facts.call, 0);
    if (fresh || call->second != 0) call->second = used ? 0 : call->second + bytes_of(of, block);
  }
  std::erase_if(kept, [](const auto& call) { return call.second == 0; });
  return kept;
}

// Where a run ends in a forward pass, or right after it, nobody knows what would have followed.
[[nodiscard]] bool is_unfinished(const evidence& of, std::uint32_t call) {
  for (auto block = of.blocks.size(); block-- > 0;) {
    if (of.blocks[block].call != 0) return of.blocks[block].call == call;
  }
  return false;
}

void free_after_use(const evidence& of, request_edits& edits) {
  const auto calls = calls_without_backward(of, passes_of(of));
  const auto ends = ends_of_use_in_forward(of);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (!facts.kept_by_autograd || facts.what != category::activations) continue;
    if (!calls.contains(facts.call) || ends[block] == 0) continue;
    if (ends[block] < death_event(of, block)) edits.free_at(block, ends[block]);
  }
}

}  // namespace

proposals evaluation_without_gradients(const evidence& of) {
  const auto passes = passes_of(of);
  auto calls = calls_without_backward(of, passes);
  std::erase_if(calls, [&](const auto& call) {
    return passes.training.empty() && is_unfinished(of, call.first) && calls.size() == 1;
  });
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
  const auto line = line_of(of, stack);
  made.change = fmt::format(
      "with torch.inference_mode(): around the evaluation{}, or @torch.inference_mode() on its "
      "function; torch.no_grad() where its results take part in a later graph",
      line.empty() ? "" : fmt::format(" (the model is called at {})", line));
  made.evidence =
      fmt::format("{} call{} of a model left up to {} kept for a backward pass that never came",
                  calls.size(), calls.size() == 1 ? "" : "s", bytes_in_words(largest->second));
  made.source =
      "without a graph each activation lives until the module after the one that made it is done";
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
