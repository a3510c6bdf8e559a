// SPDX-License-Identifier: Apache-2.0
//
// On which GPUs an estimate fits, and how large the batch may be there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/base/text/enum_name.h"
#include "analyzer/model/estimate/plan.h"

namespace memtrace::estimate {

// Shares of a GPU's memory: people aim at these; above the higher one fragmentation, a longer batch
// or an evaluation find no room.
inline constexpr double target_low = 0.70;
inline constexpr double target_high = 0.85;

enum class fit : std::uint8_t {
  no,     // more than there is
  tight,  // above the target
  on_target,
  room,  // below the target
};
[[nodiscard]] constexpr std::string_view name_of(fit how) {
  return text::enum_name(how);
}

struct gpu_fit {
  std::string_view gpu;
  std::uint64_t total_bytes = 0;
  double used = 0;  // share of the total
  fit how{};
  // On each device; 0: not even one sequence. Empty shapes have no batch: both 0.
  std::uint64_t largest_batch = 0;     // within the target
  std::uint64_t batch_at_the_end = 0;  // at all
};

[[nodiscard]] gpu_fit fit_on(const plan& wanted, std::string_view gpu, std::uint64_t total_bytes);

}  // namespace memtrace::estimate
