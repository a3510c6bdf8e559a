// SPDX-License-Identifier: Apache-2.0
//
// Sizes that vary from step to step, rounded up to a few: blocks that were freed fit again. What
// grows with the length is scaled from each step's length to the next bucket's.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "analyzer/advice/batch_share.h"
#include "analyzer/advice/passes.h"
#include "analyzer/advice/pieces.h"
#include "analyzer/advice/program_words.h"
#include "analyzer/advice/request_edits.h"
#include "analyzer/advice/sequence_share.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::phase;

namespace {

// So many different lengths make it worth while.
constexpr std::size_t fewest_lengths = 4;

// Of each training pass, in units that divide all of them; 0: not known.
struct lengths {
  std::vector<std::uint32_t> of_pass;
  std::uint32_t longest = 0;
  std::size_t different = 0;
};

// The largest block of each pass that one line makes, by line.
using by_line = std::map<std::pair<trace::stack_id, trace::object_id>, std::vector<std::uint64_t>>;

[[nodiscard]] by_line largest_blocks(const evidence& of, const run_passes& passes) {
  const auto scales = scales_with_batch(of, passes, activity::training);
  const auto squares = grows_quadratically(of);
  by_line found;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (!scales[block] || squares[block] || facts.born_in != phase::forward) continue;
    const auto pass = passes.at(birth_event(of, block));
    if (!pass) continue;
    auto& sizes = found[{facts.stack, facts.module}];
    sizes.resize(passes.training.size(), 0);
    sizes[*pass] = std::max(sizes[*pass], bytes_of(of, block));
  }
  return found;
}

// By the line that makes most and runs in every pass.
[[nodiscard]] lengths lengths_of(const evidence& of, const run_passes& passes) {
  const std::vector<std::uint64_t>* telling = nullptr;
  std::uint64_t most = 0;
  const auto lines = largest_blocks(of, passes);
  for (const auto& [line, sizes] : lines) {
    const auto sum = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    const bool always = std::find(sizes.begin(), sizes.end(), 0) == sizes.end();
    if (!always || sum <= most) continue;
    most = sum;
    telling = &sizes;
  }
  lengths found;
  if (telling == nullptr) return found;
  std::uint64_t unit = 0;
  for (const auto size : *telling) unit = std::gcd(unit, size);
  const auto largest = *std::max_element(telling->begin(), telling->end()) / unit;
  if (largest > 0xffffffu) return found;
  for (const auto size : *telling) found.of_pass.push_back(static_cast<std::uint32_t>(size / unit));
  found.longest = static_cast<std::uint32_t>(largest);
  found.different = std::set(found.of_pass.begin(), found.of_pass.end()).size();
  return found;
}

[[nodiscard]] std::uint32_t bucket_of(std::uint32_t length, std::uint32_t longest,
                                      std::uint32_t buckets) {
  for (std::uint32_t i = 1; i < buckets; ++i) {
    const auto size =
        static_cast<std::uint32_t>((std::uint64_t{longest} * i + buckets - 1) / buckets);
    if (length <= size) return size;
  }
  return longest;
}

void round_up(const evidence& of, std::uint32_t buckets, request_edits& edits) {
  const auto passes = passes_of(of);
  const auto found = lengths_of(of, passes);
  const auto scales = scales_with_batch(of, passes, activity::training);
  const auto squares = grows_quadratically(of);
  for (block_number block = 0; block < scales.size(); ++block) {
    if (!scales[block]) continue;
    const auto birth = birth_event(of, block);
    auto pass = passes.at(birth).value_or(0);
    // Inputs are made before the forward that they are for.
    if (birth >= passes.training[pass].end && pass + 1 < passes.training.size()) ++pass;
    const auto length = found.of_pass[pass];
    const auto bucket = bucket_of(length, found.longest, buckets);
    if (bucket == length) continue;
    edits.scale(block, bucket, length);
    if (squares[block]) edits.scale(block, bucket, length);
  }
}

[[nodiscard]] proposal propose(const evidence& of, const lengths& found, std::uint32_t buckets) {
  const bool sequences = works_on_sequences(of);
  proposal made;
  made.id = "bucketing";
  made.group = "bucketing";
  made.amount = fmt::format("{} sizes", buckets);
  made.title = "The sizes of batches vary from step to step";
  made.change =
      sequences ? fmt::format(
                      "pad each batch to a multiple of 1/{} of the longest length "
                      "(pad_to_multiple_of of the collator; group_by_length keeps padding small)",
                      buckets)
                : fmt::format("round the sizes of inputs up to {} sizes", buckets);
  made.evidence = fmt::format(
      "{} different sizes in {} steps, the smallest {} of the largest", found.different,
      found.of_pass.size(),
      share_in_words(*std::min_element(found.of_pass.begin(), found.of_pass.end()), found.longest));
  made.source = "blocks in proportion to a step's length, attention scores to its square";
  made.cost = "computes on padding";
  made.not_when = "expandable_segments is on or possible: it needs no padding";
  made.device = of.log.device;
  made.rewrite = [&of, buckets](allocator::request_log& log) {
    request_edits edits;
    round_up(of, buckets, edits);
    edits.apply(log);
  };
  return made;
}

}  // namespace

proposals bucketing(const evidence& of) {
  const auto passes = passes_of(of);
  if (passes.training.size() < fewest_lengths) return {};
  const auto found = lengths_of(of, passes);
  if (found.of_pass.empty() || found.different < fewest_lengths) return {};
  return {propose(of, found, 4), propose(of, found, 8)};
}

}  // namespace memtrace::advice
