// SPDX-License-Identifier: Apache-2.0
//
// Gradients of a model that no optimizer updates: the teacher of a distillation, a reference policy, a
// network that only computes a loss. Its parameters need none, nor what is kept for them alone; and where
// what it is given needs none either, autograd keeps nothing of its calls.
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
#include "analyzer/judge/blocks/given_operands.h"
#include "analyzer/judge/blocks/last_uses.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/judge/program/later_uses.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

// What a product or a convolution keeps of its input is for the gradient of its weights alone, and nobody
// else keeps it: by block. Its other operand is such a matrix; the weights of a normalisation are none.
[[nodiscard]] std::vector<bool> kept_for_weights(const blocks::evidence& of,
                                                 const untrained_parts& parts) {
  std::set<std::uint64_t> products;
  std::vector<bool> found(of.blocks.size());
  std::vector<bool> otherwise(of.blocks.size());
  const auto for_each_kept = [&](auto&& look) {
    for (const auto& kept : of.keepings) {
      const auto block = block_from(of, kept.block_event);
      if (block < found.size() && birth_event(of, block) == kept.block_event) look(kept, block);
    }
  };
  for_each_kept([&](const blocks::keeping& kept, block_number block) {
    const auto facts = of.blocks[block];
    const bool is_matrix = facts.what == category::weights && facts.dimensions > 1;
    if (is_matrix && !kept.output && parts.part_of(facts)) products.insert(kept.before);
  });
  for_each_kept([&](const blocks::keeping& kept, block_number block) {
    const bool is_operand = !kept.output && products.contains(kept.before);
    (is_operand ? found : otherwise)[block] = true;
  });
  for (block_number block = 0; block < found.size(); ++block) {
    if (otherwise[block]) found[block] = false;
  }
  return found;
}

struct untrained {
  untrained(const blocks::evidence& of, untrained_parts all)
      : parts(std::move(all)),
        handed(of, [this](const blocks::block_facts& facts) { return parts.part_of(facts); }),
        for_weights(kept_for_weights(of, parts)) {}

  // Whether autograd keeps this block for gradients of these parts alone.
  [[nodiscard]] bool is_unneeded(block_number block, const blocks::block_facts& facts) const {
    if (facts.born_in != phase::forward || facts.what != category::activations) return false;
    const auto part = parts.part_of(facts);
    return facts.kept_by_autograd &&
           (for_weights[block] || (part && !handed.needs_graph(part, facts.call)));
  }

  untrained_parts parts;
  blocks::given_operands handed;
  std::vector<bool> for_weights;
  std::uint64_t gradients = 0;    // each parameter's
  std::uint64_t activations = 0;  // of one call, that nothing needs
  trace::object_id first;         // of the parts, with a block of its first call
  trace::stack_id stack;
};

[[nodiscard]] untrained find(const blocks::evidence& of, untrained_parts parts) {
  untrained found(of, std::move(parts));
  std::map<std::uint32_t, std::uint64_t> by_call;
  std::map<std::pair<trace::object_id, trace::text_id>, std::uint64_t> by_parameter;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    if (found.is_unneeded(block, facts)) {
      auto& bytes = by_call[facts.call];
      bytes += bytes_of(of, block);
      found.activations = std::max(found.activations, bytes);
    }
    const auto part = found.parts.part_of(facts);
    if (!part) continue;
    if (facts.what == category::gradients) {
      auto& most = by_parameter[{facts.root, facts.name}];
      most = std::max(most, bytes_of(of, block));
    }
    if (facts.born_in != phase::forward || found.stack) continue;
    found.stack = facts.stack;
    found.first = part;
  }
  for (const auto& one : by_parameter) found.gradients += one.second;
  return found;
}

void leave_out(const blocks::evidence& of, const untrained& found, request_edits& edits) {
  const auto ends = ends_of_use_in_forward(of);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    if (found.is_unneeded(block, facts)) {
      if (ends[block] != 0 && ends[block] < death_event(of, block)) {
        edits.free_at(block, ends[block]);
      }
      continue;
    }
    const auto part = found.parts.part_of(facts);
    if (!part || facts.what == category::workspace) continue;
    const bool is_free = facts.born_in == phase::backward && !found.handed.needs_graph(part);
    if (facts.what == category::gradients || is_free) edits.drop(block);
  }
}

}  // namespace

proposals untrained_gradients(const blocks::evidence& of) {
  untrained_parts parts(of);
  if (parts.empty()) return {};
  const auto found = std::make_shared<untrained>(find(of, std::move(parts)));
  if (found->gradients + found->activations == 0 || blocks::are_gradients_read(of)) return {};
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
      "requires_grad_(False) of {} that is called{}, where it is made; if an optimizer "
      "trains it later, only in the steps that do not",
      who, line.empty() ? "" : " at " + line);
  const auto kept = bytes_in_words(found->activations);
  if (found->gradients == 0) {
    made.title = "A model keeps activations for gradients of parameters that no optimizer has";
    made.evidence =
        fmt::format("{} kept in a call for gradients that no optimizer has asked for", kept);
  } else {
    made.evidence = fmt::format("{} of gradients that no optimizer has looked at",
                                bytes_in_words(found->gradients));
    if (found->activations != 0)
      made.evidence += fmt::format(", and {} kept for them in a call", kept);
  }
  made.about = {found->gradients + found->activations, "are for gradients that no optimizer uses"};
  made.source =
      "none of these gradients; what is kept for them alone, and where nothing before the model "
      "needs one, each activation of its call lives until the module after the one that made it "
      "is done";
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
