// SPDX-License-Identifier: Apache-2.0
//
// When to look at memory, such that looking costs less than a thousandth of the run's time beyond
// an allowance at its start, without which short runs would have no series.
//
//   a look   the process and its limit: some 50 us    10 a second, later at least 1 a second
//   a walk   page tables, also of all child processes: milliseconds and more
//            5 a second, then ever more rarely; as many as the budget pays for
//
// Times and costs are nanoseconds, since the recording began.
#pragma once

#include <algorithm>
#include <cstdint>

namespace memtrace::sampler {

class sample_plan {
 public:
  static constexpr std::uint64_t shortest_pause = 100'000'000;
  static constexpr std::uint64_t longest_pause = 1'000'000'000;
  static constexpr std::uint64_t shortest_walk_pause = 200'000'000;
  static constexpr std::uint64_t allowance = 100'000'000;  // of walks
  static constexpr std::uint64_t share = 2000;             // looks and walks: a 2000th each

  // From one look to the next.
  [[nodiscard]] static std::uint64_t pause(std::uint64_t now, std::uint64_t look_cost) noexcept {
    constexpr std::uint64_t looks_at_full_rate = 600;
    const std::uint64_t slower =
        std::clamp(now / looks_at_full_rate, shortest_pause, longest_pause);
    return std::max(slower, look_cost * share);
  }

  [[nodiscard]] bool walk_is_due(std::uint64_t now) const noexcept { return now >= next_walk_; }

  void walked(std::uint64_t now, std::uint64_t cost) noexcept {
    // A run twice as long has some eleven walks more, where the budget pays for them.
    constexpr std::uint64_t part_of_the_run = 16;
    spent_ += cost;
    const std::uint64_t wanted = spent_ + cost;  // with the next one
    const std::uint64_t paid_for = wanted > allowance ? (wanted - allowance) * share : 0;
    next_walk_ = std::max(now + std::max(shortest_walk_pause, now / part_of_the_run), paid_for);
  }

 private:
  std::uint64_t spent_ = 0;  // on walks
  std::uint64_t next_walk_ = 0;
};

}  // namespace memtrace::sampler
