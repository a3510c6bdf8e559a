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
  if (kind == subject_kind::phase) name_what_is_there(who.retained_by);
  name_the_part(who);
  const bool even = who.found.shape == growth::shape::accumulating && who.blocks > 1 &&
                    who.found.evidence.late_start == 0;
  if (!who.retained_by.empty() || !lasts(about) || !even) return;
  auto lost = kept.unnamed(who.device, who.site, who.bytes_per_step, who.bytes / who.blocks);
  if (lost) who.retained_by.push_back(std::move(*lost));
}

// Where the program asks for the memory.
void place_at_own_line(program::bound& bound, const verdict& about,
                       const trace::dictionary& names) {
  if (about.suspects.empty()) return;
  const auto& first = about.suspects.front();
  for (const auto stack : {first.stack, first.forward}) {
    const auto frames = code::frames_of(names, stack);
    const auto own = std::ranges::find(frames, true, &code::source_frame::user);
    if (own == frames.end()) continue;
    bound.file = own->file;
    bound.line = own->line;
    return;
  }
}

// What a phase gives back is bounded by the phase's end: at the line that asks for it.
void bound_by_its_end(verdict& about, const trace::dictionary& names) {
  if (!about.gives_back_after || about.bound || about.suspects.empty()) return;
  if (!growth::is_leak(about.found.shape)) return;
  auto& bound = about.bound.emplace();
  bound.kind = program::bound_kind::episode;
  bound.expression = about.about.name;
  bound.value = *about.gives_back_after;
  place_at_own_line(bound, about, names);
}

}  // namespace

void explain(findings& found, const retention& kept, const trace::dictionary& names,
             std::uint64_t positions) {
  for (auto& about : found.verdicts) {
    for (auto& who : about.suspects) explain_one(about, who, kept);
    for (auto& who : about.unnamed) explain_one(about, who, kept);
  }
  find_bounds(found, names);
  judge_bounded_growth(found, positions);
  for (auto& about : found.verdicts) {
    bound_by_its_end(about, names);
    if (about.bound && about.bound->kind == program::bound_kind::positions) {
      place_at_own_line(*about.bound, about, names);
    }
  }
  summarize(found);
  mark_expected(found, names);
}

}  // namespace memtrace::verdicts
