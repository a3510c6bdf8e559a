// SPDX-License-Identifier: Apache-2.0
//
// The smallest capacity that fits: upwards from what the program's blocks need at least, first in
// growing steps, then by bisection. Fit is not monotone: what is returned was replayed.
#include <algorithm>

#include "analyzer/model/allocator/placements.h"
#include "analyzer/model/allocator/what_if.h"

namespace memtrace::allocator {

namespace {

class fitting {
 public:
  fitting(const request_log& log, const scenario& under) : log_(log), under_(under) {}

  // Whether every policy gets through.
  [[nodiscard]] bool fits(std::uint64_t usable_bytes) {
    ++tested_;
    under_.usable_bytes = usable_bytes;
    if (under_.total_bytes != 0) under_.total_bytes = std::max(total_, usable_bytes);
    std::uint64_t retries = 0;
    for (const auto& one : placements) {
      under_.addresses = one.policy;
      under_.seed = one.seed;
      const auto found = replay(log_, under_);
      if (found.out_of_memory) return false;
      retries = std::max(retries, found.retries);
    }
    best_ = {usable_bytes, retries, 0};
    return true;
  }
  [[nodiscard]] smallest_fit found() const {
    auto fit = best_;
    fit.tested = tested_;
    return fit;
  }

 private:
  const request_log& log_;
  scenario under_;
  std::uint64_t total_ = under_.total_bytes;
  std::uint32_t tested_ = 0;
  smallest_fit best_;
};

}  // namespace

std::optional<smallest_fit> find_smallest_fit(const request_log& log, const scenario& under,
                                              std::uint64_t most, std::uint64_t step) {
  step = std::max<std::uint64_t>(step, 1);
  auto unlimited_memory = under;
  unlimited_memory.usable_bytes = unlimited_memory.total_bytes = 0;
  const auto least = replay(log, unlimited_memory).allocated.bytes;
  // In steps above `least`: the largest that failed, the smallest that fitted.
  if (least > most) return std::nullopt;
  const auto at = [&](std::uint64_t steps) {
    return steps > (most - least) / step ? most : least + steps * step;
  };
  fitting tries(log, under);
  std::uint64_t failed = 0;
  std::uint64_t fitted = 0;
  if (!tries.fits(at(0))) {
    for (std::uint64_t steps = 1;; steps *= 2) {
      if (tries.fits(at(steps))) {
        fitted = steps;
        break;
      }
      failed = steps;
      if (at(steps) == most) return std::nullopt;
    }
  }
  while (fitted > failed + 1) {
    const auto middle = failed + (fitted - failed) / 2;
    if (tries.fits(at(middle))) {
      fitted = middle;
    } else {
      failed = middle;
    }
  }
  return tries.found();
}

}  // namespace memtrace::allocator
