// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/keepers.h"

#include <algorithm>
#include <tuple>

#include "analyzer/judge/advice/equal_members.h"
#include "analyzer/judge/advice/passes.h"

namespace memtrace::advice {

using allocator::block_number;

namespace {

// The first block that is made at this event or later.
[[nodiscard]] block_number block_from(const blocks::evidence& of, std::uint64_t event) {
  block_number first = 0;
  auto last = static_cast<block_number>(of.blocks.size());
  while (first < last) {
    const auto middle = first + (last - first) / 2;
    if (birth_event(of, middle) < event) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

}  // namespace

keepers::keepers(const blocks::evidence& of) {
  const auto blocks = of.blocks.size();
  for (const auto& kept : of.keepings) {
    const auto block = block_from(of, kept.block_event);
    if (block >= blocks || birth_event(of, block) != kept.block_event) continue;  // not there
    const auto by = kept.output ? block : block_from(of, kept.before);
    if (by >= blocks) continue;
    by_block_.push_back({block, by, kept.output});
    if (!kept.output) by_keeper_.push_back({block, by, false});
  }
  const auto in_order = [](const use& left, const use& right) {
    return std::tie(left.block, left.by, left.output) <
           std::tie(right.block, right.by, right.output);
  };
  std::ranges::sort(by_block_, in_order);
  std::ranges::sort(by_keeper_, [](const use& left, const use& right) {
    return std::tie(left.by, left.block) < std::tie(right.by, right.block);
  });
}

std::span<const keepers::use> keepers::of(block_number block) const {
  return equal_members(by_block_, block, &use::block);
}

std::span<const keepers::use> keepers::operands_of(block_number by) const {
  return equal_members(by_keeper_, by, &use::by);
}

}  // namespace memtrace::advice
