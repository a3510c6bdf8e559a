// SPDX-License-Identifier: Apache-2.0
//
// Two runs side by side: what each was, what changed, and where the two do not compare. Sizes are
// bytes, times nanoseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/run/model/model.h"
#include "analyzer/show/diff/configuration.h"
#include "analyzer/show/diff/rows.h"
#include "analyzer/show/diff/verdicts.h"

namespace memtrace::diff {

// How memory went over the steps, thinned to at most 64 values; a value stands for `stride` steps.
struct step_curve {
  // What ends a step: optimizer, user, inferred; or what the verdict's series counts where no steps
  // are known; empty: neither.
  std::string boundary;
  std::uint64_t steps = 0;
  std::uint64_t stride = 1;
  std::vector<std::uint64_t> left;  // the least that was allocated at the end of one of its steps
  std::vector<std::uint64_t> peak;  // the most that was allocated within them
};

// One device of one run.
struct device_side {
  const run::process_report* process = nullptr;
  const run::device_report* device = nullptr;
  step_curve curve;
  std::optional<std::uint64_t> step_ns;  // median
  const run::oom_report* oom =
      nullptr;  // that of this device which ended the program, else the first
};

// Everything but the sides only where both are there.
struct device_pair {
  std::optional<device_side> before, after;             // one of them may be missing
  std::vector<changed_row> categories, modules, lines;  // at the allocated peaks
  std::vector<verdict_pair> verdicts;
  std::vector<growing_line> growing;
};

struct run_difference {
  const run::run_report* before = nullptr;
  const run::run_report* after = nullptr;
  std::vector<std::string> not_comparable;  // sentences
  std::vector<changed_fact> configuration;
  std::vector<device_pair> devices;  // the highest peak first
};

// Keeps references to both.
[[nodiscard]] run_difference compare(const run::run_report& before, const run::run_report& after);

}  // namespace memtrace::diff
