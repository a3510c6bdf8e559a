// SPDX-License-Identifier: Apache-2.0
//
// Views that are kept, x[:, -1] in a list or a cache, and with each of them the whole tensor that it was
// cut from: a clone of the part lets the rest go.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/last_uses.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;

namespace {

// What heap scans saw of the blocks that a line made and that are kept.
struct seen_of_line {
  std::uint64_t views = 0;  // held by nothing but views
  std::uint64_t share = 0;  // of 256, of all these together
  std::uint64_t whole = 0;  // held by something else: what was made last has its variable still
  [[nodiscard]] bool is_of_views() const { return views > whole; }
};

struct viewed {
  block_number block = 0;
  std::uint64_t until = 0;  // event: from here on nothing but the views uses it
  std::uint32_t share = 0;  // of 256
};

struct all_viewed {
  std::vector<viewed> blocks;
  std::size_t seen = 0;      // of them, by a heap scan
  std::uint64_t now = 0;     // bytes of all that are alive at the peak
  std::uint64_t parts = 0;   // and of the views of these
  block_number largest = 0;  // that a heap scan has seen
};

// By block: from where on nothing but what is kept uses it.
[[nodiscard]] std::vector<std::uint64_t> ends_of_use(const blocks::evidence& of) {
  const auto turns = turns_of_loops(of);
  const auto calls = turns_of_calls(of);
  std::vector<std::uint64_t> ends(of.blocks.size());
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = std::min(turns[i].over, calls[i].over);
  return ends;
}

// By training pass: the event of the last block that its backward pass makes.
[[nodiscard]] std::vector<std::uint64_t> last_of_backward(const blocks::evidence& of,
                                                          const blocks::run_passes& passes) {
  std::vector<std::uint64_t> last(passes.training.size(), 0);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (of.blocks[block].born_in != attribution::phase::backward) continue;
    const auto event = birth_event(of, block);
    if (const auto pass = passes.at(event)) last[*pass] = event;
  }
  return last;
}

[[nodiscard]] all_viewed find(const blocks::evidence& of) {
  const auto of_views = [](const blocks::block_facts& facts) {
    return facts.view_share != 0 && facts.view_share != blocks::held_whole && facts.stack;
  };
  if (std::ranges::none_of(of.blocks, of_views)) return {};
  const auto ends = ends_of_use(of);
  const auto stays = [&](block_number block) { return ends[block] < death_event(of, block); };
  const auto passes = passes_of(of);
  // What a backward pass has used is kept by no graph any more; the inputs of the next one may come
  // before that begins.
  const auto last_backward = last_of_backward(of, passes);
  const auto has_graph = [&](block_number block) {
    if (!of.blocks[block].kept_by_autograd) return false;
    const auto pass = passes.at(birth_event(of, block));
    return !pass || last_backward[*pass] > ends[block];
  };
  std::map<trace::stack_id, seen_of_line> lines;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    if (facts.view_share == 0 || !facts.stack || !stays(block)) continue;
    auto& line = lines[facts.stack];
    const bool is_whole = facts.view_share == blocks::held_whole;
    ++(is_whole ? line.whole : line.views);
    if (!is_whole) line.share += facts.view_share;
  }
  std::vector<bool> at_peak(of.blocks.size());
  for (const auto block : alive_after(of, of.now.allocated.request)) at_peak[block] = true;
  all_viewed found;
  std::uint64_t most = 0;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    const auto line = lines.find(facts.stack);
    if (line == lines.end() || facts.view_share == blocks::held_whole) continue;
    if (facts.view_share == 0 && !line->second.is_of_views()) continue;
    if (has_graph(block) || !stays(block)) continue;
    const auto bytes = bytes_of(of, block);
    // Scans are few: what lived between two of them is as those that they have seen.
    const auto of_line = line->second.share / line->second.views;
    const auto share = facts.view_share != 0 ? facts.view_share : of_line;
    found.blocks.push_back({block, ends[block], static_cast<std::uint32_t>(share)});
    if (at_peak[block]) {
      found.now += bytes;
      found.parts += bytes * share / 256;
    }
    if (facts.view_share == 0) continue;
    ++found.seen;
    if (bytes > most) found.largest = block;
    most = std::max(most, bytes);
  }
  return found;
}

}  // namespace

proposals kept_views(const blocks::evidence& of) {
  const auto found = find(of);
  if (found.seen == 0 || found.now == 0) return {};
  const auto facts = of.blocks[found.largest];
  proposal made;
  made.id = "kept_views";
  made.title = "Views keep the whole tensors that they were cut from";
  made.change = fmt::format(
      "keep a copy of the part: `.clone()` of what goes into `{}`, cut from what {} makes",
      of.names[facts.viewed_by], line_of(of, facts.stack));
  made.evidence = fmt::format("{} of {} at the peak are used by nothing but views of {}",
                              bytes_in_words(found.now), bytes_in_words(of.now.allocated.bytes),
                              bytes_in_words(found.parts));
  made.about = {found.now, "are kept whole by views of a part"};
  made.source =
      "each of these tensors given back where its turn of the loop is over or its model is called "
      "again, and a copy of the views instead";
  made.cost = "a copy of the parts";
  made.not_when =
      "the whole tensor is used again from elsewhere, or written to for the views' sake";
  made.free = true;
  made.device = of.log.device;
  made.stack = facts.stack;
  made.rewrite = [&of](allocator::request_log& log) {
    request_edits edits;
    for (const auto& one : find(of).blocks) {
      edits.free_at(one.block, one.until);
      const auto copy = edits.allocate(one.until, one.block, one.share, 256);
      const auto death = death_event(of, one.block);
      if (death < end_event(of)) edits.free(copy, death);
    }
    edits.apply(log);
  };
  return {made};
}

}  // namespace memtrace::advice
