// SPDX-License-Identifier: Apache-2.0
//
// Copies of a model's weights that no forward pass uses, such as a moving average of them.
#include <fmt/core.h>

#include <vector>

#include "analyzer/advice/passes.h"
#include "analyzer/advice/pieces.h"
#include "analyzer/advice/program_words.h"
#include "analyzer/advice/request_edits.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;

namespace {

[[nodiscard]] std::vector<block_number> copies_in(const evidence& of) {
  std::vector<block_number> found;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.what == category::weights && facts.unused_copy) found.push_back(block);
  }
  return found;
}

}  // namespace

proposals weights_copy(const evidence& of) {
  const auto copies = copies_in(of);
  if (copies.empty()) return {};
  std::uint64_t bytes = 0;
  for (const auto block : copies) bytes += bytes_of(of, block);
  proposal made;
  made.id = "weights_copy";
  made.title = "Weights are on the GPU a second time, and no forward pass uses the copy";
  made.change =
      "keep the copy on the host (copy.deepcopy(model).cpu()), and update it with "
      "new.detach().to(\"cpu\"), if need be every few steps";
  made.evidence = fmt::format("{} in {} parameters of models that are never called",
                              bytes_in_words(bytes), copies.size());
  made.cost = "each update copies the weights to the host; evaluation with the copy moves it back";
  made.not_when = "the copy is evaluated or updated at every step and the transfer counts";
  made.how = proof::replayed;
  made.device = of.log.device;
  made.stack = of.blocks[copies.front()].stack;
  made.rewrite = [copies](allocator::request_log& log) {
    request_edits edits;
    for (const auto block : copies) edits.drop(block);
    edits.apply(log);
  };
  return {std::move(made)};
}

}  // namespace memtrace::advice
