// SPDX-License-Identifier: Apache-2.0
//
// Samples are taken by the clock, growth is told by the step: where between samples the steps end.
//
//   steps ends   │    │    │    │    │    │    │    │    │        steps slower than samples:
//   samples     · · · · · · · · · · · · · · · · · · · · · ·       each end of a step is a point
//
//   step ends    ││││││││││││││││││││││││││││││││││││││││││       faster: each so-manieth end is
//   one samples     ·    ·    ·    ·    ·    ·    ·    ·    ·
//
// Samples before the first step's end (the model is made, libraries are loaded) and after the last
// one's (everything is given back) are left out. Without steps: points evenly in time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/judge/host/samples.h"

namespace memtrace::host {

struct host_grid {
  std::vector<std::uint64_t> times;  // ns, ascending
  std::uint64_t first_step = 0;      // of the first point
  std::uint64_t stride = 1;          // steps from one point to the next
  double ns_per_step = 0;            // of a point, where there are no steps; 0: not known
  bool has_steps = false;
};

// No finer than the samples are. `step_ends` ascending.
[[nodiscard]] host_grid grid_for(std::span<const sample> samples,
                                 std::span<const std::uint64_t> step_ends);

// At the grid's times, between samples by a straight line.
[[nodiscard]] std::vector<std::uint64_t> at_points(std::span<const sample> samples,
                                                   const host_grid& points);

}  // namespace memtrace::host
