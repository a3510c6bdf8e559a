// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/blocks/repetition.h"

namespace memtrace::blocks {

using allocator::block_number;

std::vector<model_call> calls_until(const evidence& of, block_number refused) {
  std::vector<model_call> calls;
  for (block_number block = 0; block < refused; ++block) {
    const auto facts = of.blocks[block];
    const bool is_new = facts.call != 0 && (calls.empty() || calls.back().number < facts.call);
    if (is_new) calls.push_back({facts.call, facts.root, facts.stack, birth_event(of, block)});
  }
  return calls;
}

std::optional<repetition> pass_again(const run_passes& passes, std::uint64_t refusal) {
  const auto count = passes.training.size();
  const bool in_forward = passes.unfinished && *passes.unfinished <= refusal;
  if (count < (in_forward ? 1 : 2)) return std::nullopt;
  const auto failed = in_forward ? *passes.unfinished : passes.training.back().forward;
  const auto& earlier = passes.training[count - (in_forward ? 1 : 2)];
  const bool in_update = !in_forward && passes.training.back().end < refusal;
  const auto end = in_update ? passes.training.back().forward : earlier.end;
  return repetition{failed, {earlier.forward, end}};
}

std::optional<repetition> call_again(const std::vector<model_call>& calls) {
  for (std::size_t i = calls.size(); i-- > 1;) {
    const auto& earlier = calls[i - 1];
    if (earlier.root != calls.back().root || earlier.stack != calls.back().stack) continue;
    return repetition{calls.back().begin, {earlier.begin, calls[i].begin}};
  }
  return std::nullopt;
}

std::optional<block_number> twin_of(const evidence& of, block_number refused,
                                    const repetition& again, bool of_one_size) {
  const auto stack = fatal_oom(of)->stack;
  const auto bytes = bytes_of(of, refused);
  const auto is_alike = [&](block_number block) {
    return of.blocks[block].stack == stack && (!of_one_size || bytes_of(of, block) == bytes);
  };
  std::size_t before = 0;
  for (auto block = block_from(of, again.failed); block < refused; ++block) {
    if (is_alike(block)) ++before;
  }
  for (auto block = block_from(of, again.earlier.begin);
       block < of.blocks.size() && birth_event(of, block) < again.earlier.end; ++block) {
    if (is_alike(block) && before-- == 0) return block;
  }
  return std::nullopt;
}

}  // namespace memtrace::blocks
