// SPDX-License-Identifier: Apache-2.0
//
// Results of an evaluation that pile up on the GPU until it is over: moved to the host, or reduced,
// call by call.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "analyzer/judge/advice/last_uses.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

constexpr std::size_t fewest_results = 4;

struct collected {
  std::vector<std::pair<block_number, std::uint64_t>> results;  // and where their turn is over
  std::vector<block_number> joined;                             // all of them in one, at the end
  std::size_t at_once = 0;
  std::uint64_t highest = 0;  // bytes at once, with the joined ones
  trace::stack_id stack;      // of the largest
};

[[nodiscard]] bool can_be_result(const blocks::evidence& of, const blocks::run_passes& passes,
                                 block_number block) {
  if (passes.of_block[block] != blocks::activity::evaluation) return false;
  const auto facts = of.blocks[block];
  // What a graph keeps goes with the graph, wherever its result is.
  const bool has_graph = facts.kept_by_autograd || passes.without_backward.contains(facts.call);
  if (facts.born_in == phase::setup || has_graph) return false;
  const auto what = facts.what;
  return what == category::outputs || what == category::collected || what == category::other ||
         what == category::activations || what == category::inputs;
}

[[nodiscard]] collected find(const blocks::evidence& of, const blocks::run_passes& passes) {
  const auto turns = turns_of_loops(of);
  collected found;
  std::uint64_t held = 0;
  using end = std::pair<std::uint64_t, std::uint64_t>;              // event and bytes
  std::priority_queue<end, std::vector<end>, std::greater<>> ends;  // of results, the next first
  std::uint64_t most = 0;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto birth = birth_event(of, block);
    for (; !ends.empty() && ends.top().first <= birth; ends.pop()) held -= ends.top().second;
    if (passes.of_block[block] != blocks::activity::evaluation) continue;
    const auto bytes = bytes_of(of, block);
    const auto death = death_event(of, block);
    const bool outlives_turns =
        turns[block].next_over < death && turns[block].over < turns[block].next_over;
    if (can_be_result(of, passes, block) && outlives_turns) {
      found.results.push_back({block, turns[block].over});
      ends.push({death, bytes});
      held += bytes;
      found.at_once = std::max(found.at_once, ends.size());
      found.highest = std::max(found.highest, held);
      if (bytes > most) found.stack = of.blocks[block].stack;
      most = std::max(most, bytes);
    } else if (of.blocks[block].call == 0 && ends.size() >= fewest_results && bytes >= held / 2) {
      found.joined.push_back(block);
      found.highest = std::max(found.highest, held + bytes);
    }
  }
  return found;
}

}  // namespace

proposals evaluation_outputs(const blocks::evidence& of) {
  const auto passes = passes_of(of);
  if (!passes.evaluates) return {};
  const auto found = find(of, passes);
  if (found.at_once < fewest_results) return {};
  proposal made;
  made.id = "evaluation_outputs";
  made.title = passes.trains() ? "Results of evaluation pile up on the GPU"
                               : "Results of calls pile up on the GPU";
  made.change =
      owner_of_loop(of, passes) == loop_owner::transformers
          ? "eval_accumulation_steps=1, or preprocess_logits_for_metrics that reduces the logits"
          : fmt::format(
                "reduce the results call by call, or move each to the host (.cpu()) where "
                "{} makes it, before it is appended",
                line_of(of, found.stack));
  made.evidence = fmt::format("{} results outlive two turns of the loop or more, up to {} at once",
                              found.results.size(), bytes_in_words(found.highest));
  made.about = {found.highest,
                passes.trains() ? "are results of evaluation" : "are results of calls"};
  made.source = "results given back where their turn is over; what joins them is made on the host";
  made.cost = "a copy to the host for each call, and memory there";
  made.not_when = "the results are used on the GPU again before the evaluation is over";
  made.device = of.log.device;
  made.stack = found.stack;
  made.rewrite = [&of](allocator::request_log& log) {
    const auto collected = find(of, passes_of(of));
    request_edits edits;
    for (const auto& [block, turn_over] : collected.results) edits.free_at(block, turn_over);
    for (const auto block : collected.joined) edits.drop(block);
    edits.apply(log);
  };
  return {made};
}

}  // namespace memtrace::advice
