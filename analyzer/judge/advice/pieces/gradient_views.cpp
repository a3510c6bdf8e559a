// SPDX-License-Identifier: Apache-2.0
//
// Gradients that lie in DistributedDataParallel's buckets and beside them:
// gradient_as_bucket_view=True makes them views of the buckets.
//
// Source: PyTorch, DistributedDataParallel, gradient_as_bucket_view: saves as much as all
// gradients. A backward pass still computes each gradient apart, copies it into its bucket and
// frees it.
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/model/attribution/frame_marks.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

struct gradient_blocks {
  std::vector<block_number> gradients;  // of parameters, made in backward
  std::uint64_t bucket_bytes = 0;
  trace::stack_id stack;  // of a bucket
};

[[nodiscard]] gradient_blocks find(const blocks::evidence& of) {
  attribution::frame_marks marks(of.names);
  gradient_blocks found;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.what != category::gradients) continue;
    if ((marks[facts.stack].any & attribution::mark::gradient_bucket) != 0) {
      found.bucket_bytes = std::max(found.bucket_bytes, bytes_of(of, block));
      found.stack = facts.stack;
    } else if (facts.born_in == phase::backward) {
      found.gradients.push_back(block);
    }
  }
  return found;
}

// Each is gone as soon as the next one is made.
void free_at_once(const blocks::evidence& of, request_edits& edits) {
  const auto found = find(of);
  for (std::size_t i = 0; i < found.gradients.size(); ++i) {
    const auto block = found.gradients[i];
    const auto birth = birth_event(of, block);
    auto freed = birth + 1;
    if (i + 1 < found.gradients.size()) freed = birth_event(of, found.gradients[i + 1]);
    edits.free_at(block, std::min(freed, death_event(of, block)));
  }
}

}  // namespace

proposals gradient_views(const blocks::evidence& of) {
  const auto found = find(of);
  if (found.bucket_bytes == 0 || found.gradients.empty()) return {};
  proposal made;
  made.id = "gradient_as_bucket_view";
  made.title = "Gradients lie in DistributedDataParallel's buckets and a second time beside them";
  made.change = "DistributedDataParallel(model, …, gradient_as_bucket_view=True)";
  made.evidence = fmt::format("{} gradients beside buckets of up to {}", found.gradients.size(),
                              bytes_in_words(found.bucket_bytes));
  made.source = "PyTorch, DistributedDataParallel: gradient_as_bucket_view";
  made.free = true;
  made.cost = "none known";
  made.not_when = "code calls detach_() on gradients, or keeps them from step to step";
  made.how = proof::replayed;
  made.device = of.log.device;
  made.stack = found.stack;
  made.rewrite = [&of](allocator::request_log& log) {
    request_edits edits;
    free_at_once(of, edits);
    edits.apply(log);
  };
  return {std::move(made)};
}

}  // namespace memtrace::advice
