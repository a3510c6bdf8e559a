// SPDX-License-Identifier: Apache-2.0
//
// Gradients that are alive where nobody needs them: kept as tensors of zeros from step to step
// (zero_grad(set_to_none=False)), or given back only after the next forward pass
// (zero_grad() between forward and backward).
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/advice/model_parts.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

// A place in the program's course: which step, counted by optimizer steps.
[[nodiscard]] std::uint32_t steps_before(const blocks::evidence& of, std::uint64_t event) {
  const auto request = std::ranges::lower_bound(of.log.events, event);
  const auto index = static_cast<std::uint32_t>(request - of.log.events.begin());
  return static_cast<std::uint32_t>(
      std::upper_bound(of.step_ends.begin(), of.step_ends.end(), index) - of.step_ends.begin());
}

[[nodiscard]] std::uint64_t event_of_step_end(const blocks::evidence& of, std::uint32_t step) {
  if (step >= of.step_ends.size()) return end_event(of);
  const auto request = of.step_ends[step];
  return request < of.log.events.size() ? of.log.events[request] : end_event(of);
}

[[nodiscard]] std::uint64_t end_of_own_step(const blocks::evidence& of, block_number block) {
  return event_of_step_end(of, steps_before(of, birth_event(of, block)));
}

// Gradients that live through the forward of a step after the one that made them.
struct kept_gradients {
  std::vector<block_number> for_good;   // through two steps or more: tensors of zeros
  std::vector<block_number> into_next;  // freed after the next step's forward began
  std::uint64_t bytes_for_good = 0;
  std::uint64_t bytes_into_next = 0;
};

// The gradients of each parameter that has a name, in the order of their births.
using gradients_by_parameter =
    std::map<std::pair<trace::object_id, trace::text_id>, std::vector<block_number>>;

[[nodiscard]] gradients_by_parameter by_parameter(const blocks::evidence& of) {
  gradients_by_parameter found;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    if (facts.what != category::gradients || !facts.name) continue;
    found[{facts.root, facts.name}].push_back(block);
  }
  return found;
}

// A parameter whose gradient is zeroed has no other one: where the next is made while this one
// lives, something else keeps it.
[[nodiscard]] bool is_kept_by_another(const blocks::evidence& of, const gradients_by_parameter& all,
                                      block_number block) {
  const auto facts = of.blocks[block];
  const auto found = all.find({facts.root, facts.name});
  if (found == all.end()) return false;
  const auto next = std::ranges::upper_bound(found->second, block);
  return next != found->second.end() && birth_event(of, *next) < death_event(of, block);
}

[[nodiscard]] kept_gradients find(const blocks::evidence& of, const blocks::run_passes& passes) {
  kept_gradients found;
  const auto all = by_parameter(of);
  const untrained_parts untrained(of);
  std::map<std::uint32_t, std::uint64_t> by_step;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    // Where nobody told of an optimizer's own, there may be none.
    if (of.blocks[block].what != category::gradients || !of.blocks[block].seen_by_optimizer)
      continue;
    // No optimizer's zero_grad() has those of a model that none of them has.
    if (is_kept_by_another(of, all, block) || untrained.part_of(of.blocks[block])) continue;
    const auto birth = birth_event(of, block);
    const auto death = death_event(of, block);
    const auto own = steps_before(of, birth);
    const auto step_end = event_of_step_end(of, own);
    // The first forward pass after its step.
    const auto next = std::lower_bound(passes.training.begin(), passes.training.end(), step_end,
                                       [](const blocks::training_pass& pass, std::uint64_t event) {
                                         return pass.forward < event;
                                       });
    if (next == passes.training.end() || death <= next->forward) continue;
    const auto second = event_of_step_end(of, own + 1);
    if (death > second) {
      found.for_good.push_back(block);
      found.bytes_for_good += bytes_of(of, block);
    } else if (death <= next->backward) {
      found.into_next.push_back(block);
      by_step[own] += bytes_of(of, block);
    }
  }
  for (const auto& [step, bytes] : by_step) {
    found.bytes_into_next = std::max(found.bytes_into_next, bytes);
  }
  return found;
}

// In every later step what backward makes in the shape of the gradient becomes it, and lives until
// the step is over.
void give_back_each_step(const blocks::evidence& of, request_edits& edits) {
  const auto like_parameters = shaped_like_parameters(of);
  std::set<std::pair<trace::object_id, std::uint64_t>> kept;  // module and bytes
  for (const auto block : find(of, passes_of(of)).for_good) {
    kept.insert({of.blocks[block].module, bytes_of(of, block)});
    edits.free_at(block, end_of_own_step(of, block));
  }
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (!like_parameters[block]) continue;
    if (!kept.contains({of.blocks[block].module, bytes_of(of, block)})) continue;
    const auto end = end_of_own_step(of, block);
    if (end > death_event(of, block)) edits.free_at(block, end);
  }
}

void give_back_after_step(const blocks::evidence& of, request_edits& edits) {
  for (const auto block : find(of, passes_of(of)).into_next) {
    edits.free_at(block, end_of_own_step(of, block));
  }
}

[[nodiscard]] proposal common(const blocks::evidence& of) {
  proposal made;
  made.group = "zero_grad";
  made.device = of.log.device;
  made.free = true;
  made.cost = "none known";
  return made;
}

}  // namespace

proposals zero_grad(const blocks::evidence& of) {
  const auto passes = passes_of(of);
  if (of.step_ends.empty() || passes.training.empty()) return {};
  const auto kept = find(of, passes);
  proposals all;
  if (!kept.for_good.empty()) {
    auto made = common(of);
    made.id = "set_to_none";
    made.title = "Gradients stay allocated from step to step";
    made.change =
        "optimizer.zero_grad(set_to_none=True), which is the default, right after "
        "optimizer.step()";
    made.evidence = fmt::format("{} in {} gradients live through the forward pass of later steps",
                                bytes_in_words(kept.bytes_for_good), kept.for_good.size());
    made.about = {kept.bytes_for_good, "are gradients kept from step to step"};
    made.source =
        "the gradient that backward computes takes the place of the one that was kept, until the "
        "step is over";
    made.free = true;
    made.cost =
        "none known; weight decay and momentum of parameters without a gradient in a step "
        "are no longer applied";
    made.not_when = "gradients are accumulated over several backward passes, or read between steps";
    made.rewrite = [&of](allocator::request_log& log) {
      request_edits edits;
      give_back_each_step(of, edits);
      edits.apply(log);
    };
    all.push_back(std::move(made));
  }
  if (!kept.into_next.empty()) {
    auto made = common(of);
    made.id = "zero_grad_placement";
    made.title = "Gradients of a step live through the next one's forward pass";
    made.change = "call optimizer.zero_grad() right after optimizer.step()";
    made.evidence = fmt::format(
        "{} of gradients are given back only after the next forward pass "
        "has begun",
        bytes_in_words(kept.bytes_into_next));
    made.about = {kept.bytes_into_next, "are gradients of the step before"};
    made.how = proof::replayed;
    made.not_when = "gradients are read between two steps";
    made.rewrite = [&of](allocator::request_log& log) {
      request_edits edits;
      give_back_after_step(of, edits);
      edits.apply(log);
    };
    all.push_back(std::move(made));
  }
  return all;
}

}  // namespace memtrace::advice
