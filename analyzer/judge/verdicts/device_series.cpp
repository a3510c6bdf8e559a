// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/device_series.h"

#include <algorithm>

namespace memtrace::verdicts {

void device_series::end_step(std::uint64_t step, const totals_now& now) {
  observe(now.allocated, now.in_use);
  const auto missed = step - steps_;  // before the device was first used
  const auto add = [&](judged_series& to, std::uint64_t bytes) {
    to.add(0, missed);
    to.add(bytes, 1);
  };
  // What was there before the program built its model says nothing.
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

}  // namespace memtrace::verdicts
