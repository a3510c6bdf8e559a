// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace memtrace::simulator {

// Blocks of `block` threads with `shared` bytes of dynamic shared memory that fit a multiprocessor,
// as far as threads, blocks and shared memory limit it; registers are taken to be few.
[[nodiscard]] int occupancy_blocks(int block, std::size_t shared);

}  // namespace memtrace::simulator
