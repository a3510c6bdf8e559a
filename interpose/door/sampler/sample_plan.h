// SPDX-License-Identifier: Apache-2.0
//
// When to look at memory, such that looking costs less than a thousandth of the run's time beyond
// an allowance at its start, without which short runs would have no series.
//
//   a look   the process and its limit; its child processes: some 50 us, and 20 for each child
//            10 a second, later at least 1 a second
//   a walk   page tables, where there are child processes: milliseconds for each
//            5 a second after new ones have come, then ever more rarely; as many as the budget
//            pays for; none where one alone would take too long: a process whose tables are walked
//            waits with its own mmap
//
// Times and costs are nanoseconds, since the recording began.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace memtrace::sampler {

// A budget for something: an allowance, and a share of the time.
class time_budget {
 public:
  constexpr time_budget(std::uint64_t allowance, std::uint64_t share) noexcept
      : allowance_(allowance), share_(share) {}
  // `now`: since the recording began.
  [[nodiscard]] bool allows(std::uint64_t now) const noexcept {
    return spent_.load(std::memory_order_relaxed) < allowance_ + now / share_;
  }
  void spend(std::uint64_t cost) noexcept { spent_.fetch_add(cost, std::memory_order_relaxed); }

 private:
  std::uint64_t allowance_;
  std::uint64_t share_;
  std::atomic<std::uint64_t> spent_{0};
};

class sample_plan {
 public:
  static constexpr std::uint64_t shortest_pause = 100'000'000;
  static constexpr std::uint64_t longest_pause = 1'000'000'000;
  static constexpr std::uint64_t shortest_walk_pause = 200'000'000;
  // For walks: enough for a verdict on two DataLoader workers in the first minute.
  static constexpr std::uint64_t allowance = 250'000'000;
  static constexpr std::uint64_t longest_walk = 50'000'000;
  // Bytes of resident memory in a nanosecond (process_memory.h has the measurement).
  static constexpr std::uint64_t walked_bytes = 300;
  // The process, its children, and walks: a 3000th of the time each.
  static constexpr std::uint64_t share = 3000;

  // Until then looks may take a hundredth each.
  static constexpr std::uint64_t beginning = 20'000'000'000;

  // From one look to the next.
  [[nodiscard]] static std::uint64_t pause(std::uint64_t now, std::uint64_t look_cost) noexcept {
    constexpr std::uint64_t looks_at_full_rate = 600;
    constexpr std::uint64_t share_at_first = 100;
    const std::uint64_t slower =
        std::clamp(now / looks_at_full_rate, shortest_pause, longest_pause);
    return std::max(slower, look_cost * (now < beginning ? share_at_first : share));
  }

  // `resident`: bytes of all that would be walked.
  [[nodiscard]] bool walk_is_due(std::uint64_t now, std::uint64_t resident) const noexcept {
    return now >= next_walk_ && resident / walked_bytes <= longest_walk;
  }

  // Other processes are there than before: what follows is a new series.
  void begin_series(std::uint64_t now) noexcept {
    series_began_ = now;
    next_walk_ = std::max(now, paid_for_);
  }

  void walked(std::uint64_t now, std::uint64_t cost) noexcept {
    // A series twice as long has some eight walks more, where the budget pays for them.
    constexpr std::uint64_t part_of_the_series = 12;
    spent_ += cost;
    const std::uint64_t wanted = spent_ + cost;  // with the next one
    paid_for_ = wanted > allowance ? (wanted - allowance) * share : 0;
    const std::uint64_t pause = (now - series_began_) / part_of_the_series;
    next_walk_ = std::max(now + std::max(shortest_walk_pause, pause), paid_for_);
  }

 private:
  std::uint64_t spent_ = 0;     // on walks
  std::uint64_t paid_for_ = 0;  // from when on the budget has one more
  std::uint64_t series_began_ = 0;
  std::uint64_t next_walk_ = 0;
};

}  // namespace memtrace::sampler
