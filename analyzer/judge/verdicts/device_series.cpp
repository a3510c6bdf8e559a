// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/device_series.h"

#include <algorithm>

namespace memtrace::verdicts {

// Values stand for the steps 0, stride, 2·stride, …
void thinned_series::add(std::uint64_t bytes, std::uint64_t times) {
  for (const auto end = steps_ + times; steps_ < end;) {
    const auto next = shown_.bytes.size() * shown_.stride;
    if (next >= end) {
      steps_ = end;
      return;
    }
    if (shown_.bytes.size() < most) {
      shown_.bytes.push_back(bytes);
      continue;
    }
    for (std::size_t i = 0; 2 * i < most; ++i) shown_.bytes[i] = shown_.bytes[2 * i];
    shown_.bytes.resize(most / 2);
    shown_.stride *= 2;
  }
}

void device_series::end_step(std::uint64_t step, const totals_now& now) {
  observe(now.allocated, now.in_use);
  const auto missed = step - steps_;  // before the device was first used
  const auto add = [&](judged_series& to, std::uint64_t bytes) {
    to.add(0, missed);
    to.add(bytes, 1);
  };
  // Memory from before the program built its model says nothing.
  if (steps_ == 0) least_ = now.allocated;
  add(least, least_);
  add(peak, most_);
  add(reserved, now.reserved);
  if (now.reserved < latest_reserved_) most_in_use_ = now.in_use;
  add(stranded, now.reserved - std::min(now.reserved, most_in_use_));
  latest_reserved_ = now.reserved;
  add(outside, now.outside);
  add(occupied, now.occupied);
  last_occupied = now.occupied;
  steps_ = step + 1;
  last_least = least_;
  if (step != 0) most_above_least = std::max(most_above_least, most_ - least_);
  least_ = most_ = now.allocated;
}

void category_series::lived(attribution::category what, std::uint64_t bytes, std::uint64_t born,
                            std::uint64_t died) {
  auto& differences = differences_[what];
  if (differences.size() <= died) differences.resize(died + 1);
  differences[born] += static_cast<std::int64_t>(bytes);
  differences[died] -= static_cast<std::int64_t>(bytes);
}

std::vector<std::uint64_t> category_series::of(attribution::category what,
                                               std::uint64_t steps) const {
  std::vector<std::uint64_t> values(steps);
  const auto& differences = differences_[what];
  std::int64_t sum = 0;
  for (std::uint64_t i = 0; i < steps; ++i) {
    if (i < differences.size()) sum += differences[i];
    values[i] = static_cast<std::uint64_t>(std::max<std::int64_t>(sum, 0));
  }
  return values;
}

}  // namespace memtrace::verdicts
