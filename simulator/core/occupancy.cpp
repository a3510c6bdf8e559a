// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/occupancy.h"

#include <algorithm>

#include "simulator/core/attributes.h"

namespace memtrace::simulator {

int occupancy_blocks(int block, std::size_t shared) {
  constexpr int warp = 32;
  const capability_limits& limit = limits_of_model();
  if (block <= 0 || block > 1024) return 0;
  const int threads = (block + warp - 1) / warp * warp;
  int blocks = std::min(limit.blocks_per_sm, limit.threads_per_sm / threads);
  if (shared != 0) {
    const std::size_t room = static_cast<std::size_t>(limit.shared_kib_per_sm) << 10;
    blocks = std::min(blocks, static_cast<int>(room / shared));
  }
  return blocks;
}

}  // namespace memtrace::simulator
