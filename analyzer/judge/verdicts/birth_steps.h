// SPDX-License-Identifier: Apache-2.0
//
// In how many different steps the live blocks of a call site were made. A leak's number grows; that
// of a ring buffer, a cache that is full, or memory that streams does not (SWAT and GenCount, which
// count generations of objects, rest on the same).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace memtrace::verdicts {

class birth_steps {
 public:
  void born(std::uint64_t step) {  // not before the latest one
    if (step != step_) {
      distances_.add(step - step_);
      if (alive_ != 0) {
        older_.push_back({step_, alive_});
        ++older_alive_;
      }
      step_ = step;
      alive_ = 0;
    }
    ++alive_;
  }
  void died(std::uint64_t step);
  [[nodiscard]] std::uint64_t count() const { return older_alive_ + (alive_ != 0 ? 1 : 0); }
  // Whether there were births in every third step or so (to within a quarter of the distance), and
  // the next one is not overdue `now`.
  [[nodiscard]] bool at_even_distances(std::uint64_t now) const {
    return distances_.are_even() && now - step_ <= distances_.most + distances_.most / 4;
  }
  // Whether there have been none for more than twice the longest wait between any two.
  [[nodiscard]] bool is_overdue(std::uint64_t now) const {
    return distances_.count >= 4 && now - step_ > 2 * distances_.most;
  }

 private:
  // From a step with births to the next; what is made before the second such step is the start.
  struct distances {
    std::uint64_t count = 0, least = 0, most = 0;
    void add(std::uint64_t one) {
      if (++count <= 2) return;
      least = count == 3 ? one : std::min(least, one);
      most = std::max(most, one);
    }
    [[nodiscard]] bool are_even() const { return count >= 4 && most <= least + least / 4; }
  };
  struct generation {
    std::uint64_t step = 0;
    std::uint64_t alive = 0;  // blocks
  };
  std::uint64_t step_ = 0;  // the latest with a birth
  distances distances_;
  std::uint64_t alive_ = 0;
  std::uint64_t older_alive_ = 0;  // of older_, those with live blocks
  std::vector<generation> older_;  // ascending
};

}  // namespace memtrace::verdicts
