// SPDX-License-Identifier: Apache-2.0
//
// Sizes that vary from batch to batch, rounded up to a few: blocks that were freed fit again. What
// grows with the length is scaled from each batch's length to the next bucket's.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

// So many different sizes make it worth while.
constexpr std::size_t fewest_sizes = 4;

// Blocks of one place of the program, pass by pass: the n-th block of a line in a pass. All their
// sizes are in proportion to what varies (attention scores to its square).
struct place_key {
  trace::stack_id stack;
  trace::object_id module;
  trace::text_id node;
  std::uint32_t number = 0;  // among the blocks of this line in the same pass
  [[nodiscard]] auto operator<=>(const place_key&) const = default;
};

// Whether one dimension of what autograd kept varies, and the size with it alone.
struct varying_dimension {
  std::uint64_t first = 0;  // 0: none was seen
  std::uint64_t bytes_each = 0;
  bool varies = false;
  bool alone = true;

  void look_at(std::uint64_t dimension, std::uint64_t bytes) {
    if (dimension == 0 || bytes % dimension != 0) {
      alone = false;
      return;
    }
    if (first == 0) {
      first = dimension;
      bytes_each = bytes / dimension;
    }
    varies = varies || dimension != first;
    alone = alone && bytes / dimension == bytes_each;
  }
  [[nodiscard]] bool is_length() const { return varies && alone; }
};

struct place_sizes {
  std::uint64_t largest = 0;
  std::uint64_t sum = 0;
  std::vector<block_number> blocks;
  varying_dimension rows{};
  varying_dimension columns{};
};

using places = std::map<place_key, place_sizes>;

[[nodiscard]] bool can_vary(const blocks::evidence& of, const std::vector<bool>& training,
                            const std::vector<bool>& evaluation, block_number block) {
  return (training[block] || evaluation[block]) && bytes_of(of, block) != 0;
}

// A pass begins with each call of a model, and with each backward pass.
[[nodiscard]] places sizes_by_place(const blocks::evidence& of, const blocks::run_passes& passes) {
  const auto training = scales_with_batch(of, passes, blocks::activity::training);
  const auto evaluation = scales_with_batch(of, passes, blocks::activity::evaluation);
  places found;
  struct counted {
    std::uint32_t pass = 0;
    std::uint32_t blocks = 0;
  };
  std::map<place_key, counted> counts;
  std::uint32_t pass = 1;
  std::uint32_t call = 0;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.call != 0 && facts.call != call) {
      call = facts.call;
      ++pass;
    }
    if (!can_vary(of, training, evaluation, block)) continue;
    place_key key{facts.born_in == phase::backward ? facts.forward : facts.stack, facts.module,
                  facts.node, 0};
    auto& count = counts[key];
    if (count.pass != pass) count = {pass, 0};
    key.number = count.blocks++;
    auto& place = found[key];
    place.largest = std::max(place.largest, bytes_of(of, block));
    place.sum += bytes_of(of, block);
    place.blocks.push_back(block);
    if (facts.dimensions < 2) continue;
    place.rows.look_at(facts.rows, bytes_of(of, block));
    place.columns.look_at(facts.columns, bytes_of(of, block));
  }
  return found;
}

// The sizes of the place that makes most, of those that run often.
[[nodiscard]] std::vector<std::uint64_t> telling_sizes(const blocks::evidence& of,
                                                       const places& all) {
  const place_sizes* telling = nullptr;
  for (const auto& [key, place] : all) {
    if (place.blocks.size() < fewest_sizes) continue;
    if (telling == nullptr || place.sum > telling->sum) telling = &place;
  }
  std::vector<std::uint64_t> sizes;
  if (telling == nullptr) return sizes;
  for (const auto block : telling->blocks) sizes.push_back(bytes_of(of, block));
  return sizes;
}

// Something has the same size in every pass though it belongs to the batch, or is as large as its
// length in any: the number of samples stays, and what varies is their size, which padding can
// round up.
[[nodiscard]] bool keeps_number_of_samples(const places& all, std::size_t passes) {
  constexpr std::uint64_t larger_than_scalars = 32;
  return std::any_of(all.begin(), all.end(), [&](const auto& place) {
    const auto& blocks = place.second.blocks;
    const auto largest = place.second.largest;
    const auto sum = place.second.sum;
    const bool often = blocks.size() >= fewest_sizes;
    if (often && (place.second.rows.is_length() || place.second.columns.is_length())) return true;
    return largest >= larger_than_scalars && sum == largest * blocks.size() &&
           blocks.size() * 5 >= passes * 4;
  });
}

// Each a little larger than the one before: a cache that is filled, no padding.
[[nodiscard]] bool only_grow(const std::vector<std::uint64_t>& sizes) {
  std::size_t grown = 0;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    if (sizes[i] > sizes[i - 1]) ++grown;
  }
  return grown * 5 > sizes.size() * 4;
}

// Lengths are whole numbers: a bucket of a quarter ends a little above that.
[[nodiscard]] std::uint64_t end_of_bucket(std::uint64_t largest, std::uint64_t part,
                                          std::uint64_t whole) {
  const auto end = largest / whole * part + largest % whole * part / whole;
  return std::min(largest, end + largest / 256);
}

// The next size up of so many.
[[nodiscard]] std::uint32_t bucket_of(std::uint64_t size, std::uint64_t largest, bool square,
                                      std::uint32_t buckets) {
  for (std::uint32_t i = 1; i < buckets; ++i) {
    const auto part = square ? std::uint64_t{i} * i : std::uint64_t{i};
    const auto whole = square ? std::uint64_t{buckets} * buckets : std::uint64_t{buckets};
    if (size <= end_of_bucket(largest, part, whole)) return i;
  }
  return buckets;
}

void scale_to(block_number block, std::uint64_t size, std::uint64_t wanted, request_edits& edits) {
  while (std::max(size, wanted) > std::numeric_limits<std::uint32_t>::max()) {
    size /= 2;
    wanted /= 2;
  }
  if (size == 0) return;
  edits.scale(block, static_cast<std::uint32_t>(wanted), static_cast<std::uint32_t>(size));
}

// A place that ran so seldom that its sizes tell nothing (the first batch is often fetched from
// another line, before any model ran) becomes as large as others of its size became elsewhere.
void round_up_rare(const blocks::evidence& of, const blocks::run_passes& passes, const places& all,
                   const std::map<std::uint64_t, std::uint64_t>& wanted, request_edits& edits) {
  const auto scale = [&](block_number block) {
    const auto known = wanted.find(bytes_of(of, block));
    if (known != wanted.end()) scale_to(block, known->first, known->second, edits);
  };
  for (const auto& [key, place] : all) {
    if (place.blocks.size() < fewest_sizes) std::ranges::for_each(place.blocks, scale);
  }
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto what = of.blocks[block].what;
    const bool of_a_batch = what == category::inputs || what == category::temporaries;
    if (of_a_batch && passes.of_block[block] == blocks::activity::neither) scale(block);
  }
}

void round_up(const blocks::evidence& of, std::uint32_t buckets, request_edits& edits) {
  const auto squares = grows_quadratically(of);
  const auto passes = passes_of(of);
  const auto all = sizes_by_place(of, passes);
  std::map<std::uint64_t, std::uint64_t> sizes;  // what each becomes
  for (const auto& [key, place] : all) {
    if (place.blocks.size() < fewest_sizes) continue;
    for (const auto block : place.blocks) {
      const auto size = bytes_of(of, block);
      if (size == place.largest) continue;
      const auto bucket = bucket_of(size, place.largest, squares[block], buckets);
      const auto power = std::uint64_t{squares[block] ? bucket * bucket : bucket};
      const auto whole = std::uint64_t{squares[block] ? buckets * buckets : buckets};
      const auto wanted =
          std::max(size, place.largest / whole * power + place.largest % whole * power / whole);
      scale_to(block, size, wanted, edits);
      sizes.try_emplace(size, wanted);
    }
  }
  round_up_rare(of, passes, all, sizes, edits);
}

[[nodiscard]] proposal propose(const blocks::evidence& of, const std::vector<std::uint64_t>& sizes,
                               std::uint32_t buckets) {
  const bool sequences = works_on_sequences(of);
  proposal made;
  made.id = "bucketing";
  made.group = "bucketing";
  made.amount = fmt::format("1/{}", buckets);
  made.title = "The sizes of batches vary";
  made.change =
      sequences ? fmt::format(
                      "pad each batch to a multiple of 1/{} of the longest length "
                      "(pad_to_multiple_of of the collator; group_by_length keeps padding small)",
                      buckets)
                : fmt::format("round the sizes of inputs up to {} sizes", buckets);
  const auto different = std::set(sizes.begin(), sizes.end()).size();
  made.evidence = fmt::format("{} different sizes in {} passes, the smallest {} of the largest",
                              different, sizes.size(),
                              share_in_words(*std::min_element(sizes.begin(), sizes.end()),
                                             *std::max_element(sizes.begin(), sizes.end())));
  made.source = "blocks in proportion to a batch's length, attention scores to its square";
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

proposals bucketing(const blocks::evidence& of) {
  const auto passes = passes_of(of);
  const auto all = sizes_by_place(of, passes);
  const auto sizes = telling_sizes(of, all);
  if (!keeps_number_of_samples(all, sizes.size())) return {};
  if (std::set(sizes.begin(), sizes.end()).size() < fewest_sizes || only_grow(sizes)) return {};
  return {propose(of, sizes, 4), propose(of, sizes, 8)};
}

}  // namespace memtrace::advice
