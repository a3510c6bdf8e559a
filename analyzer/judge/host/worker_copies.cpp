// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/host/worker_copies.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/host/grid.h"

namespace memtrace::host {

namespace {

using growth::shape;
using text::format_bytes;

struct gains {
  double proportional = 0;  // bytes
  double kept = 0;
  std::uint64_t still_shared = 0;  // what may yet be copied
  std::uint64_t workers = 0;
};

// While as many workers were there as at most.
[[nodiscard]] gains gains_of(const host_samples& from) {
  const auto& proportional = from.workers_proportional.samples();
  host_grid walks;
  for (const auto& one : proportional) walks.times.push_back(one.time_ns);
  const auto counts = at_points(from.workers.samples(), walks);
  const auto kept = at_points(from.workers_kept.samples(), walks);
  gains found{.workers = from.workers.peak()};
  std::size_t first = proportional.size();
  for (std::size_t i = 0; i < std::min(counts.size(), kept.size()); ++i) {
    if (counts[i] != found.workers) continue;
    first = std::min(first, i);
    found.proportional =
        static_cast<double>(proportional[i].bytes) - static_cast<double>(proportional[first].bytes);
    found.kept = static_cast<double>(kept[i]) - static_cast<double>(kept[first]);
    found.still_shared = kept[i] - std::min(kept[i], proportional[i].bytes);
  }
  return found;
}

}  // namespace

bool tell_copies(verdicts::verdict& workers, const host_samples& samples) {
  constexpr double noticeable = 4 << 20;
  const auto gained = gains_of(samples);
  if (gained.proportional < noticeable || gained.kept > gained.proportional / 4) return false;
  const bool ended = workers.found.shape == shape::warmup_plateau;
  if (!ended && !is_leak(workers.found.shape)) return false;
  const auto grew = format_bytes(static_cast<std::uint64_t>(gained.proportional));
  workers.fix = verdicts::remedy{
      .id = "copy_on_read",
      .cause =
          "reading a Python object changes its reference count: the page it lies in, shared with "
          "the parent since the fork, is copied for the worker",
      .change =
          "keep the data set in NumPy or Arrow arrays, or in tensors, instead of lists and dicts "
          "of Python objects; or use fewer workers",
      .caution = "it ends by itself when each worker has its own copy of what it reads",
      .saves_bytes_per_step = 0};
  if (ended) {
    workers.summary = fmt::format(
        "memory of {} DataLoader workers grew by {} and stopped: each has its own copy by now of "
        "the "
        "Python objects that it reads (copy on read)",
        gained.workers, grew);
    return true;
  }
  workers.summary = fmt::format(
      "memory of {} DataLoader workers grows by {} a {}: each copies the Python objects that it "
      "reads "
      "(copy on read), which ends at most {} higher",
      gained.workers,
      format_bytes(static_cast<std::uint64_t>(std::llround(workers.bytes_per_step))), workers.unit,
      format_bytes(gained.still_shared));
  workers.found.overturned_by = "the workers having read everything once: then it stops";
  const bool fits = samples.limit && *samples.limit > samples.limit_used.last() &&
                    *samples.limit - samples.limit_used.last() > gained.still_shared;
  if (fits) workers.steps_to_oom = workers.ns_to_oom = std::nullopt;
  return true;
}

}  // namespace memtrace::host
