// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/fragmentation/diagnosis.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/model/allocator/layout.h"
#include "analyzer/model/allocator/settings.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::fragmentation {

namespace {

using allocator::block_state;
using allocator::layout;
using allocator::layout_block;
using allocator::layout_segment;

// The lines that hold the most bytes: stack → place in heap_map::sites.
using known_sites = std::map<trace::stack_id, std::size_t>;

[[nodiscard]] trace::stack_id stack_of(const layout_block& block, const blocks::evidence& of) {
  if (block.state != block_state::allocated || block.number >= of.blocks.size()) return {};
  const auto& facts = of.blocks[block.number];
  return facts.stack ? facts.stack : facts.forward;
}

[[nodiscard]] known_sites largest_sites(const layout& heap, const blocks::evidence& of,
                                        heap_map& into) {
  std::map<trace::stack_id, std::uint64_t> bytes;
  for (const auto& segment : heap.segments) {
    for (const auto& block : segment.blocks) {
      if (const auto stack = stack_of(block, of)) bytes[stack] += block.bytes;
    }
  }
  std::vector<std::pair<trace::stack_id, std::uint64_t>> order(bytes.begin(), bytes.end());
  std::ranges::stable_sort(order, std::greater(), [](const auto& one) { return one.second; });
  known_sites sites;
  std::map<std::string, std::size_t> by_line;
  for (const auto& [stack, held] : order) {
    auto line = code::short_place(code::frames_of(of.names, stack), {});
    const auto known = by_line.find(line);
    if (known != by_line.end()) {
      sites.emplace(stack, known->second);
    } else if (into.sites.size() < most_map_sites) {
      by_line.emplace(line, into.sites.size());
      sites.emplace(stack, into.sites.size());
      into.sites.push_back(std::move(line));
    }
  }
  return sites;
}

[[nodiscard]] char letter_of(block_state state) {
  switch (state) {
    case block_state::allocated:
      return 'a';
    case block_state::pending:
      return 'p';
    case block_state::cached:
      return 'c';
    case block_state::unmapped:
      return 'u';
  }
  return 'c';
}

struct run {
  char state = 'c';
  std::uint64_t bytes = 0;
  std::size_t site = most_map_sites;  // not known
};

[[nodiscard]] std::vector<run> runs_of(const layout_segment& segment, const known_sites& sites,
                                       const blocks::evidence& of, bool merge) {
  std::vector<run> runs;
  for (const auto& block : segment.blocks) {
    run one{letter_of(block.state), block.bytes, most_map_sites};
    if (!merge) {
      const auto site = sites.find(stack_of(block, of));
      if (site != sites.end()) one.site = site->second;
    } else if (!runs.empty() && runs.back().state == one.state) {
      runs.back().bytes += one.bytes;
      continue;
    }
    runs.push_back(one);
  }
  return runs;
}

[[nodiscard]] std::string text_of(const std::vector<run>& runs) {
  std::string text;
  for (const auto& one : runs) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}{}", one.state, one.bytes / allocator::min_block_size);
    if (one.site < most_map_sites) text += fmt::format("@{}", one.site);
  }
  return text;
}

// By segment, whether it has a place: the largest have, while they fit.
[[nodiscard]] std::vector<bool> chosen(const layout& heap, const std::vector<std::size_t>& runs) {
  std::vector<std::size_t> order(heap.segments.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t i) { return heap.segments[i].bytes; });
  std::vector<bool> taken(heap.segments.size());
  std::size_t left = most_runs;
  for (const auto i : order) {
    if (runs[i] > left) continue;
    left -= runs[i];
    taken[i] = true;
  }
  return taken;
}

}  // namespace

heap_map draw(const layout& heap, const blocks::evidence& of, std::string when,
              std::uint64_t event) {
  heap_map made;
  made.when = std::move(when);
  made.event = event;
  std::size_t blocks = 0;
  for (const auto& segment : heap.segments) blocks += segment.blocks.size();
  made.merged = blocks > most_runs;
  const auto sites = made.merged ? known_sites() : largest_sites(heap, of, made);
  std::vector<std::size_t> counts;
  for (const auto& segment : heap.segments) {
    counts.push_back(made.merged ? runs_of(segment, sites, of, true).size()
                                 : segment.blocks.size());
  }
  const auto taken = chosen(heap, counts);
  for (std::size_t i = 0; i < heap.segments.size(); ++i) {
    const auto& segment = heap.segments[i];
    if (!taken[i]) {
      ++made.segments_left_out;
      made.bytes_left_out += segment.mapped;
      continue;
    }
    const auto stream = segment.stream < of.log.streams.size() ? of.log.streams[segment.stream] : 0;
    made.segments.push_back({segment.address, segment.bytes, stream, segment.pool != 0,
                             segment.small, segment.expandable,
                             text_of(runs_of(segment, sites, of, made.merged))});
  }
  return made;
}

}  // namespace memtrace::fragmentation
