// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/forward_calls.h"

#include "analyzer/advice/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::phase;

namespace {

// A stretch of blocks that one module makes without another in between.
struct stretch {
  block_number first = 0;
  std::uint64_t begin = 0;
  std::uint32_t call = 0;
  trace::object_id module;
};

[[nodiscard]] bool in_forward(const block_facts& block) {
  return (block.born_in == phase::forward || block.born_in == phase::evaluation) &&
         !block.recomputed;
}

}  // namespace

std::vector<std::uint64_t> ends_of_use_in_forward(const evidence& of) {
  std::vector<stretch> stretches;
  std::vector<std::uint32_t> stretch_of(of.blocks.size(), never);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (!in_forward(facts)) continue;
    const bool goes_on = !stretches.empty() && stretches.back().call == facts.call &&
                         stretches.back().module == facts.module;
    if (!goes_on) stretches.push_back({block, birth_event(of, block), facts.call, facts.module});
    stretch_of[block] = static_cast<std::uint32_t>(stretches.size() - 1);
  }
  std::vector<std::uint64_t> ends(of.blocks.size(), 0);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (stretch_of[block] == never) continue;
    const auto after_next = std::size_t{stretch_of[block]} + 2;
    const bool same_call = after_next < stretches.size() &&
                           stretches[after_next].call == stretches[stretch_of[block]].call;
    if (same_call) ends[block] = stretches[after_next].begin;
  }
  return ends;
}

}  // namespace memtrace::advice
