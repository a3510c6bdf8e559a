// SPDX-License-Identifier: Apache-2.0
//
// Two runs side by side: what each was, what changed, and where the two do not compare. Sizes are
// bytes, times nanoseconds.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/memory_view.h"
#include "analyzer/run/model/model.h"
#include "analyzer/show/diff/configuration.h"
#include "analyzer/show/diff/verdicts.h"

namespace memtrace::diff {

// The memory at two peaks, row by row: by category, by module, by line of code.

// Something that has memory at one of two moments, or at both.
struct changed_row {
  std::string name;
  std::string name_before;  // where it is another: a line that moved; else empty
  attribution::category what = attribution::category::unknown;  // of a line of code
  std::uint64_t before = 0;
  std::uint64_t after = 0;

  [[nodiscard]] std::int64_t difference() const {
    return static_cast<std::int64_t>(after) - static_cast<std::int64_t>(before);
  }
};

// All without those that are equal in both; the largest difference first.
[[nodiscard]] std::vector<changed_row> compare_categories(const run::memory_view& before,
                                                          const run::memory_view& after);
// A module's own memory, without its submodules'; repeated layers as one.
[[nodiscard]] std::vector<changed_row> compare_modules(const run::memory_view& before,
                                                       const run::memory_view& after);
// A line that is in one run only goes with one of the same function and category in the other:
// code that is edited moves.
[[nodiscard]] std::vector<changed_row> compare_lines(const run::memory_view& before,
                                                     const run::memory_view& after);

// How memory went over the steps, thinned to at most 64 values; a value stands for `stride` steps.
struct step_curve {
  // The end of a step: optimizer, user, inferred; or the unit of the verdict's series where no
  // steps are known; empty: neither.
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

// A piece of advice of the run before that the run after no longer gets, as where it was carried out.
// What it said of the peak of what is reserved, beside what came of it.
struct former_advice {
  std::string id;
  std::int64_t predicted_bytes = 0;
};

// Everything but the sides only where both are there.
struct device_pair {
  std::optional<device_side> before, after;             // one of them may be missing
  std::vector<changed_row> categories, modules, lines;  // at the allocated peaks
  std::vector<verdict_pair> verdicts;
  std::vector<growing_line> growing;
  std::vector<former_advice> advice;  // most bytes first; none where either ran out of memory
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

// Why two runs, or some of their figures, cannot be compared as they stand.

// In a sentence each, the gravest first; nothing where they compare.
[[nodiscard]] std::vector<std::string> what_does_not_compare(const run_difference& runs);

// The figures of two runs in a table.
struct summary_row {
  std::string name;
  std::string before, after, change;
  bool alarm = false;
};

[[nodiscard]] std::vector<summary_row> summary_rows(const device_pair& pair);

// "ended by itself", "ran out of memory", "was killed, or is still running"
[[nodiscard]] std::string how_it_ended(const run::run_report& run);

// Two runs side by side for a person at a terminal: one picture, then what changed.
[[nodiscard]] std::string to_text(const run_difference& runs, const text::style& style);

// Two runs side by side as JSON, by diff.schema.json beside this file.
[[nodiscard]] nlohmann::ordered_json to_json(const run_difference& runs);

}  // namespace memtrace::diff
