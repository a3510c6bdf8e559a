// SPDX-License-Identifier: Apache-2.0
//
// The suspects of a verdict by what has to be changed: lines whose memory the same thing keeps are
// one cause (a loss that is kept with its graph keeps memory of every layer).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/judge/verdicts/verdict.h"

namespace memtrace::run {

struct cause {
  const verdicts::suspect* largest = nullptr;  // the suspect that grows most
  std::size_t sites = 0;
  double share = 0;  // of the subject's growth
  double bytes_per_step = 0;
  std::uint64_t bytes = 0;
};

// Most growth first.
[[nodiscard]] std::vector<cause> causes_of(const verdicts::verdict& given);

}  // namespace memtrace::run
