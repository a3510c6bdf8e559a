// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/remedies/explain.h"

#include <algorithm>
#include <vector>

#include "analyzer/judge/remedies/find_bounds.h"
#include "analyzer/judge/remedies/prescribe.h"
#include "analyzer/judge/verdicts/filling.h"

namespace memtrace::remedies {

namespace {

// Growth that is never taken back: what was alive once, is. What grows within an evaluation is
// gone after it.
[[nodiscard]] bool lasts(const verdicts::verdict& about) {
  if (about.about.kind == verdicts::subject_kind::phase) return false;
  return about.found.shape == growth::shape::accumulating ||
         about.found.shape == growth::shape::stepwise;
}

// What is freed after each evaluation is in no cycle: what no name leads to is in the middle of an
// expression.
void name_what_is_there(std::vector<verdicts::retainer>& found) {
  std::erase_if(found, [](const verdicts::retainer& one) {
    return (one.flags & format::held_unreachable) != 0;
  });
  std::uint64_t most = 0;
  for (const auto& one : found) most = std::max(most, one.bytes);
  // The batch at hand is in variables of its own.
  std::stable_partition(found.begin(), found.end(),
                        [most](const verdicts::retainer& one) { return one.bytes >= most / 2; });
}

// A census names the model alone: its parameters are many. The modules that its new weights are in
// have names of their own, which lead to what gathers them.
void name_the_part(verdicts::culprit& who) {
  if (who.part_of_model.empty() || !who.in_running_model || who.retained_by.empty()) return;
  auto& keeper = who.retained_by.front();
  constexpr auto elsewhere = format::held_unreachable | format::held_graph;
  if (!keeper.container.empty() || (keeper.flags & elsewhere) != 0) return;
  if (!who.part_of_model.starts_with('[')) keeper.path += '.';
  keeper.path += who.part_of_model;
}

void explain_one(const verdicts::verdict& about, verdicts::culprit& who,
                 const verdicts::retention& kept) {
  // What keeps a block alive is not why PyTorch reserved more for it; and censuses see memory in
  // PyTorch's pool only.
  const auto kind = about.about.kind;
  if (kind == verdicts::subject_kind::reserved || kind == verdicts::subject_kind::host ||
      kind == verdicts::subject_kind::outside) {
    return;
  }
  who.retained_by = kept.of_site(who.device, who.site, lasts(about));
  if (kind == verdicts::subject_kind::phase) name_what_is_there(who.retained_by);
  name_the_part(who);
  const bool even = who.found.shape == growth::shape::accumulating && who.blocks > 1 &&
                    who.found.evidence.late_start == 0;
  if (!who.retained_by.empty() || !lasts(about) || !even) return;
  auto lost = kept.unnamed(who.device, who.site, who.bytes_per_step, who.bytes / who.blocks);
  if (lost) who.retained_by.push_back(std::move(*lost));
}

}  // namespace

void explain(verdicts::findings& found, const verdicts::retention& kept,
             const trace::dictionary& names, const run_clues& run) {
  for (auto& about : found.verdicts) {
    for (auto& who : about.culprits) explain_one(about, who, kept);
  }
  find_bounds(found, names);
  verdicts::judge_filling(found);
  prescribe(found, names, run);
}

}  // namespace memtrace::remedies
