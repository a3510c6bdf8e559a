// SPDX-License-Identifier: Apache-2.0
//
// Growth in one of two runs or in both, and the lines at which it happens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/run/model/model.h"

namespace memtrace::diff {

// The verdicts on one subject; null where a run has none on it.
struct verdict_pair {
  std::string subject;  // as the report's JSON names it, by the device of the run after
  const verdicts::verdict* before = nullptr;
  const verdicts::verdict* after = nullptr;
};

// A line whose memory stays.
struct growing_line {
  std::string name;
  std::string name_before;  // where it is another: a line that moved; else empty
  std::string kept_by;  // of the run after, where it is known there, else before; empty: not known
  double before = 0;    // bytes a step
  double after = 0;
};

// A device of a run.
struct of_device {
  const run::process_report& process;
  std::uint32_t device = 0;
};

// The device's own first; others only where one of the two is a leak.
[[nodiscard]] std::vector<verdict_pair> compare_verdicts(const of_device& before,
                                                         const of_device& after);
// Most growth first, of the faster run.
[[nodiscard]] std::vector<growing_line> compare_growth(const of_device& before,
                                                       const of_device& after);

}  // namespace memtrace::diff
