// SPDX-License-Identifier: Apache-2.0
//
// Growth that comes to an end by itself. No statistic of the series can tell it from a leak; what
// is known of the memory can:
//
//   a container that is bounded (deque(maxlen=…), lru_cache), or that the program's own lines
//   compare with a limit which it has not reached
//   states that an optimizer makes when a parameter has its first gradient
//   a model that the program makes larger, all of whose modules run, or by a few parts; and what
//   goes with it
//   a table for each size that the inputs have had
//   keys and values of a text that is being written
//   what CUDA graphs were captured with, and a workspace for each stream
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/judge/verdicts/retention.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::verdicts {

// What keeps each suspect, from the heap scans; which bounds the program proves; and the answer of
// each verdict. The last part of conclude().
void explain(findings& found, const retention& kept, const trace::dictionary& names,
             std::uint64_t positions, bool is_over);

// Suspects whose memory fills so get `fills` and the shape warmup_plateau; so does a verdict most
// of whose growth is theirs, unless what is left still grows. Not where memory runs out before.
// `overturned_by` says what would make a leak of it. `positions`: of the program's model; 0: not
// known.
void judge_bounded_growth(findings& found, std::uint64_t positions = 0);

// Other parts of the run that grow.
struct growing_run {
  bool weights_leak = false;    // of modules that no longer run
  bool model_grows = false;     // by modules that all run, by few, or up to a bound
  std::uint64_t steps = 0;      // of the run, where it is known
  std::uint64_t positions = 0;  // of the model; 0: not known
};

[[nodiscard]] growing_run growing_run_of(const findings& found, std::uint64_t positions);

// Why the growth of a suspect comes to an end, or may do so; empty: nothing says that it does.
[[nodiscard]] std::optional<bounded_growth> bounded_growth_of(const suspect& who,
                                                              const growing_run& run);

// At most so many steps' blocks are alive at once where each step makes its own.
inline constexpr std::uint64_t births_of_what_streams = 2;

// From so many steps on growth of which no end is proved is a leak.
inline constexpr std::uint64_t steps_that_tell = 100;

// The share of a growth that must be of one kind for the whole to be called so.
inline constexpr double most_of_growth = 0.9;

// Which of the verdicts' growth is expected, by what `found.expectations` have: sets `expected`, says
// so in the summary, and puts first what is not. After summarize(); verdicts that have been looked at
// stay as they are.
void mark_expected(findings& found, const trace::dictionary& names);

// Which of the containers that keep what grows are bounded by the program (program/prove.h), where
// the trace has its source: fills `bound` or `doubt` of what keeps the suspects that leak, and
// what else their lines say of it. First; then judge_bounded_growth().
// `is_over`: the run has trained nothing and refused no request, and its program ended with exit status 0.
void find_bounds(findings& found, const trace::dictionary& names, bool is_over = false);

}  // namespace memtrace::verdicts
