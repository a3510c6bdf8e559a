// SPDX-License-Identifier: Apache-2.0
//
// The largest batch that fits one GPU: predicted by the law, and verified by dry runs of it and of
// the next one on a GPU of that size. Where a dry run contradicts the law, it is learnt anew from
// what that run showed, and at last the bracket is halved.
//
//   law runs (no limit)  ─►  predict B  ─►  B fits?  ─►  B + 1 runs out?  ─►  done
//                               ▲            no │               no │
//                               └── the law, with what was seen ◄──┘
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/plan/fit/law.h"
#include "analyzer/plan/fit/trial.h"

namespace memtrace::fit {

// Memory of the host at any batch, from what the dry runs of a few took: the processes that write
// traces, their DataLoader workers by the pages that are their own (proportional), and pinned
// buffers, which are in these. A line through what was measured; the page cache, which the kernel
// gives back, is not in it.

struct host_point {
  std::uint64_t batch = 0;
  host_use used;
};

struct host_side {
  double constant = 0;  // bytes
  double per_item = 0;  // bytes for each of the batch
  std::uint64_t points = 0;
  host_use most;  // measured, at the largest batch
};

// Least squares; a single batch gives no slope. Empty: nothing was sampled.
[[nodiscard]] std::optional<host_side> host_side_of(const std::vector<host_point>& seen);

// "host: 3.1 GiB + 1.2 MiB · batch = 3.19 GiB at batch 77 …", with the limit where one is known.
[[nodiscard]] std::string sentence_of(const host_side& found, std::uint64_t batch);

// Batches step, 2·step, … up to most.
struct batch_range {
  std::uint64_t step = 1;
  std::uint64_t most = std::uint64_t{1} << 20;
  std::uint64_t first = 0;  // the law's first probe; 0: chosen
};

struct search_of {
  gpu_choice gpu;
  std::optional<std::uint64_t> sequence;
  std::size_t variant = 0;
  batch_range range;
  batch_of what = batch_of::training;
  std::uint64_t training_batch = 0;
};

struct boundary {
  std::uint64_t largest = 0;               // that fits; 0: none is known to
  std::optional<std::uint64_t> refused;    // the smallest tried that ran out
  bool verified = false;                   // both sides were run
  bool all_fit = false;                    // up to range.most
  std::uint64_t runs = 0;                  // dry runs for it
  std::optional<probe> fitted;             // at `largest`
  std::optional<probe> ran_out;            // at `refused`
  std::optional<probe> trouble;            // that ended the search: failed, timed out
  std::string why;                         // not verified: one sentence
  std::vector<host_point> hosts;           // of every run that fitted
  std::vector<std::uint64_t> tried;        // on the GPU itself, in order
  std::optional<std::uint64_t> predicted;  // by the law, first
};

// `may_run`: asked before each dry run; false: time is up.
[[nodiscard]] boundary find_boundary(const search_of& wanted, laws& known, prober& runs,
                                     const std::function<bool()>& may_run);

// The law is learnt on a device that never runs out.
inline constexpr std::uint64_t endless_bytes = std::uint64_t{1} << 40;

}  // namespace memtrace::fit
