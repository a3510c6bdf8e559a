// SPDX-License-Identifier: Apache-2.0
//
// Memory of others that this process maps: of graphics APIs, of other processes' pools. It has an
// address here and costs nothing.
#pragma once

#include <cuda_runtime_api.h>

#include "simulator/core/device_memory.h"

namespace memtrace::simulator::foreign {

// Error 2: no address left. `in_pool`: freed like memory of a pool, by cudaFreeAsync.
[[nodiscard]] cudaError_t map(address_t& address, std::size_t bytes, int device,
                              bool in_pool = false);
// Error 1 unless mapped here.
[[nodiscard]] cudaError_t unmap(address_t address);

}  // namespace memtrace::simulator::foreign
