// SPDX-License-Identifier: Apache-2.0
//
// Models that wait on the GPU while others run: a text encoder that is called once before fifty
// steps of a denoiser.
//
//   encoder  ██                          ██        its last call before the peak, its next one
//   denoiser    █ █ █ █ █ █▲█ █ █ █ █ █            peak: the encoder's weights could be elsewhere
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;

namespace {

// Fewer calls of other models are no wait that a transfer of the weights would be worth.
constexpr std::size_t least_calls = 12;
// Each of more would be moved, and the cache given back, all the time: that is a list of layers.
constexpr std::size_t most_models = 4;

// One call of a model, by the blocks that were made in it.
struct model_call {
  trace::object_id root;
  std::uint64_t first = 0;  // event of its first block
  block_number block = 0;   // that one
};

// Of models with weights, in the order in which they began. A call that allocates nothing passes
// unseen.
[[nodiscard]] std::vector<model_call> calls_of(const blocks::evidence& of) {
  std::set<trace::object_id> models;
  for (const auto& facts : of.blocks) {
    if (facts.what == category::weights && facts.name) models.insert(facts.root);
  }
  std::vector<model_call> calls;
  std::uint32_t number = 0;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    if (facts.call == 0 || facts.call == number || !facts.module) continue;
    const auto known = of.modules.find(facts.module);
    if (known == of.modules.end()) continue;
    number = facts.call;
    if (!models.contains(known->second.root)) continue;
    calls.push_back({known->second.root, birth_event(of, block), block});
  }
  return calls;
}

// While other models are called.
struct wait {
  std::uint64_t from = 0;   // the first call of another model
  std::uint64_t until = 0;  // its own next call; 0: it has none
  std::size_t others = 0;   // calls of other models meanwhile
};

struct waiting {
  trace::object_id root;
  block_number called_by = 0;  // a block of its last call before the peak
  wait at_peak;                // the one that the peak lies in
  std::vector<wait> all;       // that are long enough, in order
  std::uint64_t bytes = 0;
  std::vector<block_number> weights = {};
};

[[nodiscard]] waiting waits_of(const std::vector<model_call>& calls, trace::object_id root,
                               std::uint64_t peak) {
  waiting made{.root = root, .at_peak = {}, .all = {}};
  std::optional<wait> now;
  const auto end = [&](std::uint64_t until) {
    if (!now || now->others < least_calls) return;
    now->until = until;
    made.all.push_back(*now);
    if (now->from <= peak && (until == 0 || until > peak)) made.at_peak = *now;
  };
  for (const auto& call : calls) {
    if (call.root == root) {
      end(call.first);
      now.emplace();
      if (call.first <= peak) made.called_by = call.block;
    } else if (now && now->others++ == 0) {
      now->from = call.first;
    }
  }
  end(0);
  return made;
}

[[nodiscard]] std::vector<waiting> find(const blocks::evidence& of, std::uint64_t peak) {
  const auto calls = calls_of(of);
  std::map<trace::object_id, waiting> by_root;
  for (const auto& call : calls) {
    if (!by_root.contains(call.root)) by_root.emplace(call.root, waits_of(calls, call.root, peak));
  }
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    const auto facts = of.blocks[block];
    const auto found = by_root.find(facts.root);
    if (facts.what != category::weights || !facts.name || found == by_root.end()) continue;
    if (found->second.all.empty() || birth_event(of, block) >= found->second.all.front().from)
      continue;
    found->second.weights.push_back(block);
    found->second.bytes += bytes_of(of, block);
  }
  std::vector<waiting> all;
  for (auto& [root, one] : by_root) {
    if (one.at_peak.others != 0 && one.bytes != 0) all.push_back(std::move(one));
  }
  return all;
}

// "the CLIPTextModel that sample.py:12 calls"
[[nodiscard]] std::string name_of(const blocks::evidence& of, const waiting& one) {
  const auto known = of.modules.find(one.root);
  const auto type = known == of.modules.end() ? std::string_view() : of.names[known->second.type];
  const auto line = line_of(of, of.blocks[one.called_by].stack);
  return fmt::format("the {}{}", type.empty() ? "model" : type,
                     line.empty() ? "" : fmt::format(" that {} calls", line));
}

}  // namespace

proposals idle_models(const blocks::evidence& of) {
  // Training changes weights in place between calls, as of a moving average, which is not seen; and
  // of a part of a run it is not known what comes after.
  if (!of.part.empty() || passes_of(of).trains()) return {};
  const auto peak = of.log.events[of.now.allocated.request];
  auto found = find(of, peak);
  if (found.empty() || found.size() > most_models) return {};
  std::uint64_t bytes = 0;
  std::string names;
  bool comes_back = false;
  for (const auto& one : found) {
    bytes += one.bytes;
    names += (names.empty() ? "" : ", ") + name_of(of, one);
    comes_back = comes_back || one.all.back().until != 0 || one.all.size() > 1;
  }
  proposal made;
  made.id = "idle_models";
  made.title = "Weights wait on the GPU while other models run";
  made.change = fmt::format(
      "after its last call before them: .cpu() on {}, then torch.cuda.empty_cache(){}", names,
      comes_back ? "; .cuda() before its next one (Diffusers: enable_model_cpu_offload())" : "");
  made.evidence = fmt::format("{} of weights, through {} calls of other models",
                              bytes_in_words(bytes), found.front().at_peak.others);
  made.about = {bytes, "are weights of models that wait"};
  made.cost = comes_back ? "the weights are copied to the host and back each time"
                         : "they have to be loaded again if they are needed later";
  made.not_when =
      "its weights are used outside of its calls, as tied ones are, or by a CUDA graph; or the "
      "program comes back to it in what this run did not reach";
  made.how = proof::replayed;
  made.device = of.log.device;
  made.stack = of.blocks[found.front().called_by].stack;
  made.rewrite = [found = std::move(found)](allocator::request_log& log) {
    request_edits edits;
    std::vector<std::uint64_t> moved;
    for (const auto& one : found) {
      for (const auto& wait : one.all) moved.push_back(wait.from);
      for (const auto block : one.weights) {
        edits.free_at(block, one.all.front().from);
        for (std::size_t i = 0; i < one.all.size() && one.all[i].until != 0; ++i) {
          const auto back = edits.allocate(one.all[i].until, block);
          if (i + 1 < one.all.size()) edits.free(back, one.all[i + 1].from);
        }
      }
    }
    // What they had is of other sizes than what is asked for next. It is given back before that call
    // of empty_cache(), as what comes at one event comes first that is added last.
    std::ranges::sort(moved);
    allocator::add_empty_cache(log, moved);
    edits.apply(log);
  };
  return {std::move(made)};
}

}  // namespace memtrace::advice
