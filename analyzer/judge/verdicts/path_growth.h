// SPDX-License-Identifier: Apache-2.0
//
// Does what one path keeps alive grow from census to census?
//
//   bytes │        ╭─● p          p: where it held most (the latest such census)
//         │     ●──╯  ·           s: where the rise to p began; a fall back by more than a
//         │  ●─╯       ·             tenth of what has risen since ends the search
//         │ s           ●         the rate is that between s and p
//         └──────────────► step
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace memtrace::verdicts {

struct path_point {
  double step = 0;
  std::uint64_t bytes = 0;
};

struct path_growth {
  double bytes_per_step = 0;
  std::size_t rises = 0;    // intervals in which it grew, of the rise
  bool to_the_end = false;  // the last census belongs to it
  // Growth once or long ago is no leak: a cache that filled, the state of the first step.
  [[nodiscard]] bool leaks() const { return rises >= 2 && to_the_end; }
};

// By ascending step.
[[nodiscard]] path_growth growth_of(std::span<const path_point> points);

}  // namespace memtrace::verdicts
