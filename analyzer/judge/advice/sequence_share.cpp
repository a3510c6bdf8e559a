// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/sequence_share.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/judge/advice/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

bool works_on_sequences(const blocks::evidence& of) {
  constexpr std::array<std::string_view, 5> kinds = {"Attention", "Embedding", "LSTM", "GRU",
                                                     "RNN"};
  return std::any_of(of.modules.begin(), of.modules.end(), [&](const auto& module) {
    const auto type = of.names[module.second.type];
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](auto kind) { return type.find(kind) != type.npos; });
  });
}

std::vector<bool> grows_quadratically(const blocks::evidence& of) {
  std::vector<bool> found(of.blocks.size(), false);
  std::set<std::pair<trace::object_id, std::uint64_t>> scores;  // module and bytes
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (!facts.attention_scores) continue;
    found[block] = true;
    scores.insert({facts.module, bytes_of(of, block)});
  }
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    const bool scratch = facts.what == category::temporaries &&
                         (facts.born_in == phase::forward || facts.born_in == phase::backward ||
                          facts.born_in == phase::evaluation);
    if (scratch && scores.contains({facts.module, bytes_of(of, block)})) found[block] = true;
  }
  return found;
}

}  // namespace memtrace::advice
