// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/interval_bags.h"

#include <algorithm>

namespace memtrace::attribution {

void interval_bags::close() {
  for (const auto token : touched_) {
    counts_[token].push_back(now_[token]);
    now_[token] = 0;
  }
  touched_.clear();
  ++intervals_;
}

double interval_bags::explained_by_median() {
  double common = 0;
  double all = 0;
  for (auto& counts : counts_) {
    if (counts.empty()) continue;
    const auto absent = intervals_ - counts.size();
    const auto middle = intervals_ / 2;
    std::uint32_t median = 0;
    if (middle >= absent) {
      const auto at = counts.begin() + static_cast<std::ptrdiff_t>(middle - absent);
      std::nth_element(counts.begin(), at, counts.end());
      median = *at;
    }
    all += static_cast<double>(median) * static_cast<double>(absent);
    for (const auto count : counts) {
      common += std::min(count, median);
      all += std::max(count, median);
    }
  }
  return all == 0 ? 0 : common / all;
}

bool are_regular(std::vector<std::size_t> lengths) {
  if (lengths.empty()) return false;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  const auto median = *middle;
  const auto near = static_cast<std::size_t>(std::ranges::count_if(
      lengths, [&](std::size_t one) { return one * 2 >= median && one * 2 <= median * 3; }));
  // Of exponentially distributed lengths 35 % are; of lengths spread evenly over 10…50, 75 %.
  return near * 20 >= lengths.size() * 11;
}

}  // namespace memtrace::attribution
