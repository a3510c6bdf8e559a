// SPDX-License-Identifier: Apache-2.0
//
// The whole of it: every GPU at every length and variant, one boundary each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/plan/fit/search.h"

namespace memtrace::fit {

// Why the next batch does not fit, and what would make it: from the trace of the dry run that ran
// out of memory there, by the report's own findings and advice.

struct held_category {
  std::string name;  // as people call it
  std::uint64_t bytes = 0;
};

// The request that was refused. Bytes.
struct binding {
  std::string phase;  // "backward"; empty: none of training
  std::string place;  // train.py:31 step
  std::uint64_t requested = 0;
  std::uint64_t device_free = 0;
  std::uint64_t unused = 0;         // reserved, and in no block that is in use
  std::uint64_t largest_free = 0;   // block, of what is reserved
  bool fragmented = false;          // that would have been enough in one piece
  std::vector<held_category> held;  // most bytes first
};

// A change with which that request is served.
struct way {
  std::string id;
  std::string title;
  std::string change;
  std::string cost;
  std::string how;  // replayed, measured, estimated
  std::int64_t saves_bytes = 0;
  bool changes_program = false;
  bool changes_results = false;
};

struct explanation {
  std::optional<binding> bound;
  std::vector<way> ways;  // cheapest first: settings, then code, then what changes results
};

// `shortage`: what would be in use at once beyond what there is, 0 where it only does not find a
// place: no change that saves less is told. `most`: ways.
[[nodiscard]] explanation explain(const std::string& folder, std::uint64_t shortage,
                                  std::size_t most = 3);

// "in backward at train.py:31: 512 MiB were wanted, 300 MiB free; …"
[[nodiscard]] std::string sentence_of(const binding& bound);

struct variant {
  std::vector<std::string> names;  // by axis: the flags, or "as is"
  std::vector<std::string> words;  // of the command
};

struct wishes {
  std::vector<std::string> command;
  std::vector<gpu_choice> gpus;
  std::vector<std::optional<std::uint64_t>> sequences{std::nullopt};
  std::vector<std::string> axes;  // names of --vary
  std::vector<variant> variants{{}};
  batch_range range;
  std::vector<batch_of> others;    // looked for beside the largest training batch
  std::uint64_t margin_bytes = 0;  // that a real GPU may have less than the simulated one
  bool explains = true;            // why the next batch does not fit
};

struct other_batch {
  batch_of what{};
  boundary found;
};

struct row {
  gpu_choice gpu;
  std::optional<std::uint64_t> sequence;
  std::size_t variant = 0;
  boundary found;
  std::optional<law::line> line;
  law_kind kind = law_kind::none;
  double seconds = 0;
  // The largest batch with the margin left free, by the law; empty: no law.
  std::optional<std::uint64_t> with_margin;
  explanation why;  // the next one does not fit
  std::vector<other_batch> others;
};

struct plan {
  std::vector<row> rows;
  std::uint64_t runs = 0;
  double seconds = 0;
};

// `on_row`: each as it is done. Ends early where a row fails for a reason that is not the GPU's.
[[nodiscard]] plan make_plan(const wishes& wanted, prober& runs,
                             const std::function<bool()>& may_run,
                             const std::function<void(const row&)>& on_row);

}  // namespace memtrace::fit
