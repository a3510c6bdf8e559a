// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/cupti/busy_time.h"

#include <algorithm>

namespace memtrace::cupti {

// Puts `one` in the place of those in [position, last_merged), which it covers.
void busy_time::insert(std::size_t position, std::size_t last_merged,
                       const interval& one) noexcept {
  const auto begin = latest_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(count_);
  const auto to = begin + static_cast<std::ptrdiff_t>(position);
  const auto from = begin + static_cast<std::ptrdiff_t>(last_merged);
  if (position == last_merged) {
    std::copy_backward(to, end, end + 1);
    ++count_;
  } else {
    std::copy(from, end, to + 1);
    count_ -= last_merged - position - 1;
  }
  *to = one;
}

void busy_time::forget_oldest() noexcept {
  constexpr std::size_t forgotten = kept / 2;
  forgotten_until_ = latest_[forgotten - 1].end;
  std::copy(latest_.begin() + forgotten, latest_.begin() + count_, latest_.begin());
  count_ -= forgotten;
}

void busy_time::add(std::uint64_t start, std::uint64_t end) noexcept {
  start = std::max(start, forgotten_until_);
  if (start >= end) return;
  if (count_ == kept) forget_oldest();
  start = std::max(start, forgotten_until_);
  if (start >= end) return;
  std::size_t last = count_;
  while (last > 0 && latest_[last - 1].start > end) --last;
  interval one{start, end};
  std::uint64_t known = 0;
  std::size_t first = last;
  while (first > 0 && latest_[first - 1].end >= start) {
    const interval& other = latest_[--first];
    known += other.end - other.start;
    one = {std::min(one.start, other.start), std::max(one.end, other.end)};
  }
  total_ += one.end - one.start - known;
  insert(first, last, one);
}

}  // namespace memtrace::cupti
