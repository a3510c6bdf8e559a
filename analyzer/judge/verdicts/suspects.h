// SPDX-License-Identifier: Apache-2.0
//
// Which call sites of a device hold ever more memory, and which of them matter.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/base/statistics/series.h"
#include "analyzer/judge/verdicts/device_series.h"
#include "analyzer/judge/verdicts/site_history.h"
#include "analyzer/judge/verdicts/timeline.h"
#include "analyzer/judge/verdicts/verdict.h"

namespace memtrace::verdicts {

// Steps that work on more data than those before (sequences that get longer, larger batches) leave
// one larger block after the other where only the last one is alive. A tensor that is made larger
// (torch.cat) looks the same, but nothing of an earlier step is in the former. Told apart by:
//
// - the inputs: of those that each step brings along, most bytes are in ones that get larger;
// - the rest of the step: it needs more and more beside what stays, while a tensor that is made
//   larger needs at most its old copy.
//
// Both are needed: what is computed with a tensor that is made larger (a memory bank with which
// each batch is compared) grows, too, but its batch does not.
//
// A table that is made once for each size (positions, masks, grids) grows by jumps: only where the
// steps' work has become larger for good, and by much more than what stays.

// The inputs that each step brings along, as far as they are alive at its end.
class step_inputs {
 public:
  void add(const site_history& site, bool grows);
  [[nodiscard]] bool grow() const { return growing_ > same_; }

 private:
  std::uint64_t growing_ = 0;  // bytes
  std::uint64_t same_ = 0;
};

// `single`: call sites whose one block grows.
[[nodiscard]] bool work_grows(const device_series& whole, const step_inputs& inputs,
                              const std::vector<suspect>& single, const growth::context& about);

// `site`: the least bytes of each step; `peak` and `least`: the device's most and least bytes. What
// stays raises both, a larger step only the most.
[[nodiscard]] bool made_for_new_sizes(const growth::series& site, const growth::series& peak,
                                      const growth::series& least);

// The growing sites of a device together.
struct growing_sites {
  std::vector<suspect> all;   // that leak, most bytes a step first, optimizers' states last
  double bytes_per_step = 0;  // of all of them
  std::vector<suspect> bounded_growth;  // that fill and empty, largest share of the rise first
  bool work_grows = false;  // sites hold ever more only since the steps' inputs get larger
  // The shape of the site that grew most, as far as it is not a leak.
  growth::shape largest_otherwise = growth::shape::steady;
};

[[nodiscard]] growing_sites find_growing(std::uint32_t index, const device_timeline& device,
                                         const growth::context& about);

// Says of each of them which function that is: one whose calls from other lines have piled up as much and
// given it back, before this began to grow.
void note_given_back(growing_sites& found, const device_timeline& device,
                     const trace::dictionary& names);

// The first few, which explain the growth: the list ends where the next site has less than half of
// the one before it once half of the growth is explained, and at 80 % of the growth (after the
// suspect list of Chromium's leak detector).
[[nodiscard]] std::vector<suspect> suspects_of(const std::vector<suspect>& sites);

}  // namespace memtrace::verdicts
