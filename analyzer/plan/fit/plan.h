// SPDX-License-Identifier: Apache-2.0
//
// The whole of it: every GPU at every length and variant, one boundary each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/plan/fit/explain.h"
#include "analyzer/plan/fit/search.h"

namespace memtrace::fit {

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
