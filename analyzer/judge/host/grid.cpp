// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/host/grid.h"

#include <algorithm>
#include <cmath>

namespace memtrace::host {

namespace {

// How many points the samples carry: as many as there are, and where they lie unevenly no more than
// three in the widest gap, because what lies between two samples is one straight line.
[[nodiscard]] std::uint64_t points_carried(std::span<const sample> samples) {
  if (samples.size() < 2) return samples.size();
  std::uint64_t widest = 1;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    widest = std::max(widest, samples[i].time_ns - samples[i - 1].time_ns);
  }
  const auto whole = samples.back().time_ns - samples.front().time_ns;
  return std::min<std::uint64_t>(samples.size(), 3 * whole / widest + 1);
}

[[nodiscard]] host_grid without_steps(std::span<const sample> samples) {
  host_grid made;
  const auto count = points_carried(samples);
  if (count < 2) return made;
  const auto first = samples.front().time_ns;
  made.ns_per_step =
      static_cast<double>(samples.back().time_ns - first) / static_cast<double>(count - 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    made.times.push_back(first +
                         static_cast<std::uint64_t>(made.ns_per_step * static_cast<double>(i)));
  }
  return made;
}

}  // namespace

host_grid grid_for(std::span<const sample> samples, std::span<const std::uint64_t> step_ends) {
  constexpr std::size_t fewest_steps = 2;
  if (step_ends.size() < fewest_steps) return without_steps(samples);
  host_grid made;
  made.has_steps = true;
  made.ns_per_step = static_cast<double>(step_ends.back() - step_ends.front()) /
                     static_cast<double>(step_ends.size() - 1);
  const auto within = [&](const sample& one) { return one.time_ns; };
  const auto from = std::ranges::lower_bound(samples, step_ends.front(), {}, within);
  const auto to = std::ranges::upper_bound(samples, step_ends.back(), {}, within);
  const auto carried = points_carried({from, to});
  if (carried == 0) return made;
  made.stride = std::max<std::uint64_t>(1, (step_ends.size() + carried - 1) / carried);
  for (std::size_t i = 0; i < step_ends.size(); i += made.stride) {
    made.times.push_back(step_ends[i]);
  }
  return made;
}

std::vector<std::uint64_t> at_points(std::span<const sample> samples, const host_grid& points) {
  std::vector<std::uint64_t> values;
  if (samples.empty()) return values;
  values.reserve(points.times.size());
  std::size_t next = 0;
  for (const auto time : points.times) {
    while (next < samples.size() && samples[next].time_ns <= time) ++next;
    const auto& before = samples[next == 0 ? 0 : next - 1];
    const auto& after = samples[std::min(next, samples.size() - 1)];
    if (time <= before.time_ns || after.time_ns <= before.time_ns) {
      values.push_back(before.bytes);
      continue;
    }
    const double part = static_cast<double>(time - before.time_ns) /
                        static_cast<double>(after.time_ns - before.time_ns);
    values.push_back(static_cast<std::uint64_t>(
        std::lerp(static_cast<double>(before.bytes), static_cast<double>(after.bytes), part)));
  }
  return values;
}

}  // namespace memtrace::host
