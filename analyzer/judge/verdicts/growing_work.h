// SPDX-License-Identifier: Apache-2.0
//
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
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/judge/verdicts/device_series.h"
#include "analyzer/judge/verdicts/site_history.h"
#include "analyzer/judge/verdicts/verdict.h"

namespace memtrace::verdicts {

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
                              const std::vector<culprit>& single, const growth::context& about);

// `site`: the least bytes of each step; `peak`: the device's most bytes.
[[nodiscard]] bool made_for_new_sizes(const growth::series& site, const growth::series& peak);

}  // namespace memtrace::verdicts
