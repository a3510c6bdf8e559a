// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/survivors.h"

#include <algorithm>
#include <map>

namespace memtrace::fragmentation {

namespace {

using allocator::block_state;
using allocator::layout_block;

constexpr std::size_t most_sites = 64;
constexpr std::uint32_t part_of_the_run = 16;

struct tally {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t block_bytes = 0;
  attribution::category what = attribution::category::unknown;
};

[[nodiscard]] std::vector<std::uint64_t> pinned_by_segment(const std::vector<piece>& pieces,
                                                           std::size_t segments) {
  std::vector<std::uint64_t> bytes(segments);
  for (const auto& one : pieces) {
    if (one.why == reason::survivors) bytes[one.segment] += one.bytes;
  }
  return bytes;
}

[[nodiscard]] std::vector<const layout_block*> long_lived_of(
    const allocator::layout_segment& segment, const long_lives& long_lived) {
  std::vector<const layout_block*> found;
  for (const auto& block : segment.blocks) {
    if (block.state == block_state::allocated && long_lived(block.number)) found.push_back(&block);
  }
  return found;
}

}  // namespace

bool long_lives::operator()(allocator::block_number block) const {
  if (block >= log_.allocations.size()) return false;
  const auto born = log_.allocations[block];
  const auto freed = lives_.freed[block];
  if (step_ends_.empty()) {
    const auto until = std::min<std::uint64_t>(freed, log_.requests.size());
    return until - std::min<std::uint64_t>(born, until) >= log_.requests.size() / part_of_the_run;
  }
  const auto end = std::ranges::upper_bound(step_ends_, born);
  return end == step_ends_.end() ? freed == never : *end <= freed;
}

std::vector<pinning_site> pinning_sites(const std::vector<piece>& pieces,
                                        const allocator::layout& heap, const long_lives& long_lived,
                                        const blocks::evidence& of) {
  std::map<trace::stack_id, tally> by_stack;
  const auto pinned = pinned_by_segment(pieces, heap.segments.size());
  for (std::size_t s = 0; s < pinned.size(); ++s) {
    if (pinned[s] == 0) continue;
    const auto blocks = long_lived_of(heap.segments[s], long_lived);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto number = blocks[i]->number;
      const auto facts = number < of.blocks.size() ? of.blocks[number] : blocks::block_facts{};
      auto& site = by_stack[facts.stack ? facts.stack : facts.forward];
      // What is left of the division goes to the first.
      site.bytes += pinned[s] / blocks.size() + (i == 0 ? pinned[s] % blocks.size() : 0);
      ++site.blocks;
      site.block_bytes += blocks[i]->bytes;
      site.what = facts.what;
    }
  }
  std::vector<pinning_site> sites;
  for (const auto& [stack, found] : by_stack) {
    sites.push_back({code::frames_of(of.names, stack), found.what, found.bytes, found.blocks,
                     found.block_bytes});
  }
  std::ranges::stable_sort(sites, std::greater(), &pinning_site::bytes);
  if (sites.size() > most_sites) sites.resize(most_sites);
  return sites;
}

}  // namespace memtrace::fragmentation
