// SPDX-License-Identifier: Apache-2.0
//
// In how many different steps the live blocks of a call site were made. A leak's number grows; that
// of a ring buffer, a cache that is full, or memory that streams does not (SWAT and GenCount, which
// count generations of objects, rest on the same).
#pragma once

#include <cstdint>
#include <vector>

namespace memtrace::verdicts {

class birth_steps {
 public:
  void born(std::uint64_t step) {  // not before the latest one
    if (step != step_) {
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

 private:
  struct generation {
    std::uint64_t step = 0;
    std::uint64_t alive = 0;  // blocks
  };
  std::uint64_t step_ = 0;  // the latest with a birth
  std::uint64_t alive_ = 0;
  std::uint64_t older_alive_ = 0;  // of older_, those with live blocks
  std::vector<generation> older_;  // ascending
};

}  // namespace memtrace::verdicts
