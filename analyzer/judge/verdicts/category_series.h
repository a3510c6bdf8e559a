// SPDX-License-Identifier: Apache-2.0
//
// Bytes by category at the end of each step, all devices together. A block's category is known
// when it dies: it is entered then, for all steps that it had outlived, as a difference:
//
//   block born in step b, dead in step d:   + at b … d - 1    difference[b] += bytes
//                                                             difference[d] -= bytes
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/base/statistics/series.h"
#include "analyzer/model/attribution/terms.h"

namespace memtrace::verdicts {

class category_series {
 public:
  void lived(attribution::category what, std::uint64_t bytes, std::uint64_t born,
             std::uint64_t died);
  // One value a step, for so many steps.
  [[nodiscard]] std::vector<std::uint64_t> of(attribution::category what,
                                              std::uint64_t steps) const;

 private:
  attribution::by_category<std::vector<std::int64_t>> differences_;
};

}  // namespace memtrace::verdicts
