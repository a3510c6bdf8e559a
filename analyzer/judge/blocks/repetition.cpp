// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/blocks/repetition.h"

#include <algorithm>

namespace memtrace::blocks {

using allocator::block_number;

namespace {

// In as many passes as there were: by the least of the first and of the second half, as inputs of other
// sizes come and go; what the first one made may be an optimizer's states.
[[nodiscard]] double rise_by_halves(const std::vector<std::uint64_t>& levels) {
  constexpr std::size_t fewest = 3;
  if (levels.size() < fewest) return 0;
  const auto half = (levels.size() - 1) / 2;
  const auto middle = levels.begin() + 1 + static_cast<std::ptrdiff_t>(half);
  const auto before = *std::min_element(levels.begin() + 1, middle);
  const auto after = *std::min_element(middle, levels.end());
  if (after <= before) return 0;
  return static_cast<double>(after - before) / static_cast<double>(half) *
         static_cast<double>(levels.size());
}

// Since it fell last, for as long as it rose before that: a list that each call of a sampler fills.
[[nodiscard]] double rise_since_fall(const std::vector<std::uint64_t>& levels) {
  // Six in a row are no chance: of 720 orders one rises.
  constexpr std::size_t fewest = 6;
  std::size_t longest = 0;
  std::size_t begin = 0;
  for (std::size_t i = 1; i < levels.size(); ++i) {
    if (levels[i] >= levels[i - 1]) continue;
    longest = std::max(longest, i - begin);
    begin = i;
  }
  const auto now = levels.size() - begin;
  if (begin == 0 || now < fewest || longest <= now) return 0;
  const auto each =
      static_cast<double>(levels.back() - levels[begin]) / static_cast<double>(now - 1);
  return each * static_cast<double>(longest - now);
}

// Since the pass before: more than there ever was, as after a validation that leaves something behind, will
// come again.
[[nodiscard]] double rise_at_last(const std::vector<std::uint64_t>& levels) {
  constexpr std::size_t fewest = 3;
  if (levels.size() < fewest) return 0;
  const auto most = *std::max_element(levels.begin(), levels.end() - 1);
  return static_cast<double>(levels.back() - std::min(levels.back(), most));
}

}  // namespace

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
  const auto stack = of.blocks[refused].stack;
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

std::uint64_t rise_of(const std::vector<std::uint64_t>& levels) {
  return static_cast<std::uint64_t>(
      std::max({rise_by_halves(levels), rise_since_fall(levels), rise_at_last(levels)}));
}

}  // namespace memtrace::blocks
