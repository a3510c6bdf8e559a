// SPDX-License-Identifier: Apache-2.0
//
// The kinds of growth that come to an end by themselves (filling.h), one function each.
#pragma once

#include <optional>
#include <string>

#include "analyzer/judge/verdicts/verdict.h"

namespace memtrace::verdicts {

// What else of the run grows.
struct growing_run {
  bool weights_leak = false;  // of modules that no longer run
  bool model_grows = false;   // by modules that all run, by few, or up to a bound
};
[[nodiscard]] growing_run growing_run_of(const findings& found);

[[nodiscard]] std::optional<filling> filling_of(const culprit& who, const growing_run& run);

// A sentence about a verdict whose growth is that.
[[nodiscard]] std::string summary_of(const verdict& about, const filling& buffer);

}  // namespace memtrace::verdicts
