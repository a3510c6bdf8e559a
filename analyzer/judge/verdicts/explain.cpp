// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/judge/verdicts/bounded_growth.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::verdicts {

namespace {

// Growth that is never taken back: what was alive once, is. What grows within an evaluation is
// gone after it.
[[nodiscard]] bool lasts(const verdict& about) {
  if (about.about.kind == subject_kind::phase) return false;
  return about.found.shape == growth::shape::accumulating ||
         about.found.shape == growth::shape::stepwise;
}

// Memory that is freed after each evaluation is in no cycle: where no name leads to it, it is in
// the middle of an expression.
void name_what_is_there(std::vector<retainer>& found) {
  std::erase_if(found,
                [](const retainer& one) { return (one.flags & format::held_unreachable) != 0; });
  std::uint64_t most = 0;
  for (const auto& one : found) most = std::max(most, one.bytes);
  // The batch at hand is in variables of its own.
  std::stable_partition(found.begin(), found.end(),
                        [most](const retainer& one) { return one.bytes >= most / 2; });
}

// A heap scan names the model alone: its parameters are many. The modules that its new weights are
// in have names of their own, which lead to what gathers them.
void name_the_part(suspect& who) {
  if (who.part_of_model.empty() || !who.in_running_model || who.retained_by.empty()) return;
  auto& held_by = who.retained_by.front();
  constexpr auto elsewhere = format::held_unreachable | format::held_graph;
  if (!held_by.container.empty() || (held_by.flags & elsewhere) != 0) return;
  if (!who.part_of_model.starts_with('[')) held_by.path += '.';
  held_by.path += who.part_of_model;
}

void explain_one(const verdict& about, suspect& who, const retention& kept) {
  // The retainer of a block is not why PyTorch reserved more for it; and heap scans see memory in
  // PyTorch's pool only.
  const auto kind = about.about.kind;
  if (kind == subject_kind::reserved || kind == subject_kind::host ||
      kind == subject_kind::outside) {
    return;
  }
  who.retained_by = kept.of_site(who.device, who.site, lasts(about));
  if (kind == subject_kind::phase) {
    // What gathers several blocks has more than one of them; the batch at hand is of the same line.
    if (who.blocks > 1)
      std::erase_if(who.retained_by, [](const retainer& one) { return one.blocks == 1; });
    name_what_is_there(who.retained_by);
  }
  name_the_part(who);
  const bool even = who.found.shape == growth::shape::accumulating && who.blocks > 1 &&
                    who.found.evidence.late_start == 0;
  if (!who.retained_by.empty() || !lasts(about) || !even) return;
  // Of what grew: a workspace of the same line is as large as all of that.
  const auto grew = static_cast<std::uint64_t>(std::max(0.0, who.found.evidence.net_bytes));
  auto lost = kept.unnamed(who.device, who.site, who.bytes_per_step,
                           std::min(who.bytes, grew) / who.blocks);
  if (lost) who.retained_by.push_back(std::move(*lost));
}

// A bound that the run has shown, or the model says, lies at the line that asks for the memory.
void find_line(verdict& about, const trace::dictionary& names) {
  using program::bound_kind;
  const bool is_seen = about.bound && (about.bound->kind == bound_kind::episode ||
                                       about.bound->kind == bound_kind::positions);
  if (!is_seen || about.suspects.empty()) return;
  const auto& first = about.suspects.front();
  for (const auto stack : {first.stack, first.forward}) {
    const auto frames = code::frames_of(names, stack);
    const auto own = std::ranges::find(frames, true, &code::source_frame::user);
    if (own == frames.end()) continue;
    about.bound->file = own->file;
    about.bound->line = own->line;
    return;
  }
}

}  // namespace

void explain(findings& found, const retention& kept, const trace::dictionary& names,
             std::uint64_t positions, bool is_over) {
  for (auto& about : found.verdicts) {
    for (auto& who : about.suspects) explain_one(about, who, kept);
    for (auto& who : about.unnamed) explain_one(about, who, kept);
  }
  find_bounds(found, names, is_over);
  judge_bounded_growth(found, positions);
  for (auto& about : found.verdicts) find_line(about, names);
  summarize(found);
  mark_expected(found, names);
}

}  // namespace memtrace::verdicts
