// SPDX-License-Identifier: Apache-2.0
//
// Gradients of a model that no optimizer updates: the teacher of a distillation, a reference policy, a
// network that only computes a loss. Its parameters need none, and where what it is given needs none
// either, autograd keeps nothing of its calls.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/judge/advice/model_parts.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/last_uses.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

// Models whose backward pass leaves something to what comes before them, as it does where they were given
// what needs a gradient itself: a block of their own that goes while another's backward runs, or is there
// when all of it is over. Another is another model, or what no model has: a tensor that is trained.
[[nodiscard]] std::set<trace::object_id> handing_on(const blocks::evidence& of,
                                                    const untrained_parts& parts) {
  std::set<trace::object_id> found;
  trace::object_id running;
  std::map<trace::object_id, std::uint64_t> latest;  // by model, the last death of its blocks
  const auto hand_on = [&](block_number block, trace::object_id next) {
    const auto birth = birth_event(of, block);
    for (const auto& [root, death] : latest) {
      if (root != next && death > birth) found.insert(root);
    }
  };
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    const bool in_backward = facts.born_in == phase::backward;
    const auto part = parts.part_of(facts);
    const auto whose = part ? part : facts.root;
    const auto next = in_backward ? whose : trace::object_id();
    if (next != running || !in_backward) hand_on(block, next);
    running = next;
    if (!in_backward) latest.clear();
    const bool stays =
        (facts.what == category::gradients && facts.name) || facts.what == category::workspace;
    if (!whose || !in_backward || stays) continue;
    auto& death = latest[whose];
    death = std::max(death, death_event(of, block));
  }
  return found;
}

struct untrained {
  explicit untrained(const blocks::evidence& of) : parts(of) {}

  untrained_parts parts;
  std::set<trace::object_id> handing_on;
  std::uint64_t gradients = 0;    // each parameter's
  std::uint64_t activations = 0;  // of one call, that nothing needs
  trace::object_id first;         // of the parts, with a block of its first call
  trace::stack_id stack;

  [[nodiscard]] bool needs_graph(trace::object_id model) const {
    return handing_on.contains(model);
  }
};

[[nodiscard]] untrained find(const blocks::evidence& of) {
  untrained found(of);
  if (found.parts.empty()) return found;
  found.handing_on = handing_on(of, found.parts);
  std::map<std::uint32_t, std::uint64_t> by_call;
  std::map<std::pair<trace::object_id, trace::text_id>, std::uint64_t> by_parameter;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    const auto part = found.parts.part_of(facts);
    if (!part) continue;
    if (facts.what == category::gradients) {
      auto& most = by_parameter[{facts.root, facts.name}];
      most = std::max(most, bytes_of(of, block));
    }
    if (facts.born_in != phase::forward) continue;
    if (!found.stack) {
      found.stack = facts.stack;
      found.first = part;
    }
    if (found.needs_graph(part) || !facts.kept_by_autograd) continue;
    auto& bytes = by_call[facts.call];
    bytes += bytes_of(of, block);
    found.activations = std::max(found.activations, bytes);
  }
  for (const auto& one : by_parameter) found.gradients += one.second;
  return found;
}

void leave_out(const blocks::evidence& of, const untrained& found, request_edits& edits) {
  const auto ends = ends_of_use_in_forward(of);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    const auto part = found.parts.part_of(facts);
    if (!part || facts.what == category::workspace) continue;
    const bool is_free = !found.needs_graph(part);
    if (facts.what == category::gradients || (is_free && facts.born_in == phase::backward)) {
      edits.drop(block);
    } else if (is_free && facts.kept_by_autograd && facts.what == category::activations &&
               ends[block] != 0 && ends[block] < death_event(of, block)) {
      edits.free_at(block, ends[block]);
    }
  }
}

}  // namespace

proposals untrained_gradients(const blocks::evidence& of) {
  const auto found = std::make_shared<untrained>(find(of));
  if (found->parts.empty()) return {};
  const auto known = of.modules.find(found->first);
  std::string who = "the model";
  if (known != of.modules.end()) {
    const auto type = of.names[known->second.type];
    const auto path = of.names[known->second.path];
    who = path.empty() ? fmt::format("the {}", type)
                       : fmt::format("`{}` ({}) in the model", path, type);
  }
  proposal made;
  made.id = "untrained_gradients";
  made.title = "A model gets gradients that no optimizer has looked at in this run";
  const auto line = line_that_calls_model(of, found->stack);
  made.change = fmt::format(
      "requires_grad_(False) of {} that is called{}, where it is made{}; if an optimizer "
      "trains it later, only in the steps that do not",
      who, line.empty() ? "" : " at " + line,
      found->needs_graph(found->first) ? "" : ", or torch.no_grad() around its call");
  made.evidence = fmt::format("{} of gradients that no optimizer has looked at",
                              bytes_in_words(found->gradients));
  if (found->activations != 0) {
    made.evidence +=
        fmt::format(", and {} kept for them in a call", bytes_in_words(found->activations));
  }
  made.about = {found->gradients + found->activations, "are for gradients that no optimizer uses"};
  made.source =
      "none of these gradients, and where nothing before the model needs one, each activation "
      "lives until the module after the one that made it is done";
  made.free = true;
  made.cost = "none known";
  made.not_when = "the program updates these weights itself, or reads their gradients";
  made.device = of.log.device;
  made.stack = found->stack;
  made.rewrite = [&of, found](allocator::request_log& log) {
    request_edits edits;
    leave_out(of, *found, edits);
    edits.apply(log);
  };
  return {std::move(made)};
}

}  // namespace memtrace::advice
