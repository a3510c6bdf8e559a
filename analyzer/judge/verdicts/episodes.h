// SPDX-License-Identifier: Apache-2.0
//
// Growth within an evaluation, or within a phase that the program named, which is gone after it:
//
//   training  ▁▁▁▁▁        ▁▁▁▁▁        ▁▁▁▁▁     one value a step: steady
//   evaluation     ▁▃▅▇         ▁▃▅▇              one value a call of the model: grows
//
// Of all episodes of a name the one with the most points is kept. Costs nothing where a phase
// passes without a second call of a model or a second step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "analyzer/judge/verdicts/timeline.h"

namespace memtrace::verdicts {

class episodes {
 public:
  using totals_of_device = std::function<totals_now(std::uint32_t)>;

  // A point in time of the episode that runs; the first ones begin it.
  void point(std::uint64_t event, std::uint64_t time_ns, const totals_of_device& totals_of);
  void end();
  // What was seen so far does not count: points will be of another kind.
  void start_again();
  void count_calls(bool calls) { by_calls_ = calls; }

  // Whether the points of the longest are calls of a model; steps otherwise.
  [[nodiscard]] bool by_calls() const {
    return longest() == now_.get() ? by_calls_ : longest_by_calls_;
  }
  // Null: none runs that has begun to count.
  [[nodiscard]] timeline* now() { return now_.get(); }
  // Of those that ended, and the one that runs; null: all were short.
  [[nodiscard]] const timeline* longest() const;
  // That may want to know of a block that was made in it.
  template <class Function>
  void for_each(Function&& function) {
    if (now_ != nullptr) function(*now_);
    if (longest_ != nullptr) function(*longest_);
  }

 private:
  std::uint64_t points_ = 0;
  bool by_calls_ = true;
  bool longest_by_calls_ = true;
  std::unique_ptr<timeline> now_;
  std::unique_ptr<timeline> longest_;
};

}  // namespace memtrace::verdicts
