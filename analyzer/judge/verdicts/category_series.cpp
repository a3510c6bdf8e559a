// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/category_series.h"

#include <algorithm>

namespace memtrace::verdicts {

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
