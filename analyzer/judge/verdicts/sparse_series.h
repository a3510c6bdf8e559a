// SPDX-License-Identifier: Apache-2.0
//
// The series of one call site among thousands: written only where it changes. Few changes are kept
// as they are; more go into a growth::series of few windows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/base/statistics/series.h"

namespace memtrace::verdicts {

class sparse_series {
 public:
  // All steps, until told otherwise, have this value.
  explicit sparse_series(std::uint64_t value = 0) : changes_{{0, value}} {}

  // Step `step` (not before the latest one set) had `value`; the steps after it have `later`.
  void set(std::uint64_t step, std::uint64_t value, std::uint64_t later);

  [[nodiscard]] std::uint64_t latest() const { return changes_.back().value; }
  // The first `steps` steps, at least as many as were set.
  [[nodiscard]] growth::series first(std::uint64_t steps) const;

 private:
  struct change {
    std::uint64_t step = 0;  // the first with this value
    std::uint64_t value = 0;
  };
  void push(std::uint64_t step, std::uint64_t value);
  void fold();

  std::vector<change> changes_;           // never empty
  std::optional<growth::series> folded_;  // the steps before the first of them
};

}  // namespace memtrace::verdicts
