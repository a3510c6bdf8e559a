// SPDX-License-Identifier: Apache-2.0
//
// Where unified memory is, as far as the program says it: by prefetching. Faults are not seen, and
// the bytes themselves never move.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace memtrace::simulator::residency {

inline constexpr int host = -1;

// What starts at `pointer` shall be on a device, or the host. Error 1: no unified memory there, or
// no such device. Tells CUPTI what moves: nothing, where the same prefetch came before.
[[nodiscard]] cudaError_t prefetch(const void* pointer, std::size_t bytes, int to);

}  // namespace memtrace::simulator::residency
