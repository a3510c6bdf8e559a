// SPDX-License-Identifier: Apache-2.0
//
// Memory that the program still holds at the peak though nothing uses it any more: results of the
// model that autograd does not need, through the backward pass; results, losses and batches of a
// step while the next one, or an evaluation, runs.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/advice/passes.h"
#include "analyzer/advice/pieces.h"
#include "analyzer/advice/program_words.h"
#include "analyzer/advice/request_edits.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

constexpr std::uint64_t least_bytes = 1u << 20;
constexpr std::size_t most_lines = 5;

// The pass of training that uses a block: its own, or for what the program makes before a forward
// pass that one. Empty: none follows.
[[nodiscard]] const training_pass* used_by(const evidence& of, const run_passes& passes,
                                           block_number block) {
  const auto birth = birth_event(of, block);
  const auto own = passes.at(birth);
  if (own && birth < passes.training[*own].end) return &passes.training[*own];
  const auto next = own ? *own + 1 : 0;
  return next < passes.training.size() ? &passes.training[next] : nullptr;
}

// From which event on nothing uses it, as far as passes tell. Past the last event: not known.
[[nodiscard]] std::uint64_t end_of_use(const evidence& of, const run_passes& passes,
                                       block_number block) {
  const auto& facts = of.blocks[block];
  const auto not_known = end_event(of);
  switch (facts.what) {
    case category::activations:
    case category::outputs:
    case category::inputs:
    case category::temporaries:
      break;
    default:
      return not_known;
  }
  const bool made_in_backward = facts.recomputed || facts.born_in == phase::backward;
  if (made_in_backward || facts.born_in == phase::optimizer) return not_known;
  const auto* const pass = used_by(of, passes, block);
  if (passes.of_block[block] != activity::training || pass == nullptr) return not_known;
  return facts.kept_by_autograd ? pass->end : pass->backward;
}

enum class lateness : std::uint8_t { over_backward, into_next_step };

struct late_line {
  std::uint64_t bytes = 0;  // at the peak
  std::uint64_t blocks = 0;
  std::uint64_t most = 0;  // of one block
  trace::stack_id stack;   // of it
  std::vector<trace::stack_id> stacks;
};
using line_key = std::pair<std::string, lateness>;

[[nodiscard]] lateness lateness_of(const evidence& of, const run_passes& passes,
                                   block_number block) {
  const auto* const pass = used_by(of, passes, block);
  const auto peak = of.log.events[of.now.allocated.request];
  return pass != nullptr && peak < pass->end ? lateness::over_backward : lateness::into_next_step;
}

[[nodiscard]] std::vector<std::pair<line_key, late_line>> find(const evidence& of,
                                                               const run_passes& passes) {
  std::map<line_key, late_line> lines;
  if (of.now.allocated.request >= of.log.events.size()) return {};
  const auto peak = of.log.events[of.now.allocated.request];
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    if (end_of_use(of, passes, block) > peak) continue;
    const auto stack = of.blocks[block].stack;
    const auto line = line_of(of, stack);
    if (line.empty()) continue;
    auto& late = lines[{line, lateness_of(of, passes, block)}];
    const auto bytes = bytes_of(of, block);
    late.bytes += bytes;
    ++late.blocks;
    if (std::find(late.stacks.begin(), late.stacks.end(), stack) == late.stacks.end()) {
      late.stacks.push_back(stack);
    }
    if (bytes <= late.most) continue;
    late.most = bytes;
    late.stack = stack;
  }
  std::erase_if(lines, [](const auto& line) { return line.second.bytes < least_bytes; });
  std::vector<std::pair<line_key, late_line>> found(lines.begin(), lines.end());
  std::stable_sort(found.begin(), found.end(), [](const auto& left, const auto& right) {
    return left.second.bytes > right.second.bytes;
  });
  if (found.size() > most_lines) found.resize(most_lines);
  return found;
}

void free_all_of(const evidence& of, const std::vector<trace::stack_id>& stacks,
                 request_edits& edits) {
  const auto passes = passes_of(of);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (std::find(stacks.begin(), stacks.end(), of.blocks[block].stack) == stacks.end()) continue;
    const auto end = end_of_use(of, passes, block);
    if (end < death_event(of, block)) edits.free_at(block, end);
  }
}

[[nodiscard]] proposal propose(const evidence& of, const line_key& key, const late_line& late) {
  const auto& [line, how_late] = key;
  proposal made;
  made.id = "free_earlier";
  made.how = proof::replayed;
  if (how_late == lateness::over_backward) {
    made.title = "Results that backward does not need live through the backward pass";
    made.change = fmt::format(
        "del what {} made and only the forward pass uses (keep the loss alone) before backward()",
        line);
  } else {
    made.title = "Results of one step live through the next one's forward pass";
    made.change = fmt::format(
        "del what {} made at the end of each step (or make the step a function, whose local "
        "variables go with it)",
        line);
  }
  made.evidence =
      fmt::format("{} in {} block{} of that line at the peak, after the last pass that uses them",
                  bytes_in_words(late.bytes), late.blocks, late.blocks == 1 ? "" : "s");
  made.source = "blocks given back where the pass that uses them ends";
  made.cost = "none known";
  made.not_when =
      "the program reads them afterwards (accuracy, logging): compute that first, or "
      "keep a detached copy of what is read";
  made.device = of.log.device;
  made.stack = late.stack;
  made.rewrite = [&of, stacks = late.stacks](allocator::request_log& log) {
    request_edits edits;
    free_all_of(of, stacks, edits);
    edits.apply(log);
  };
  return made;
}

}  // namespace

proposals free_earlier(const evidence& of) {
  const auto passes = passes_of(of);
  if (passes.training.empty()) return {};
  proposals all;
  for (const auto& [key, late] : find(of, passes)) all.push_back(propose(of, key, late));
  return all;
}

}  // namespace memtrace::advice
