// SPDX-License-Identifier: Apache-2.0
//
// Memory that the host may touch: pinned, registered, and managed. It is real host memory and costs
// the device nothing. (On a GPU managed pages take device memory while they are there, and are
// evicted when it is full: they never make an allocation fail, so they are not charged here.)
#pragma once

#include "simulator/core/device_memory.h"

namespace memtrace::simulator::host_memory {

// Pinned. Error 2 if the machine has no memory for it. 0 bytes: null and success.
[[nodiscard]] cudaError_t allocate(std::size_t bytes, int device, unsigned flags, void*& pointer);
// Null is success; error 1 unless it is the start of pinned memory.
[[nodiscard]] cudaError_t free(void* pointer);

// Errors: 1 null or empty, 712 overlaps pinned or registered memory.
[[nodiscard]] cudaError_t register_range(void* pointer, std::size_t bytes, int device,
                                         unsigned flags);
// Error 713 unless it is the start of registered memory.
[[nodiscard]] cudaError_t unregister_range(void* pointer);

[[nodiscard]] cudaError_t allocate_managed(int device, std::size_t bytes, address_t& address);
// Error 1 unless it is the start of managed memory.
[[nodiscard]] cudaError_t free_managed(address_t address);

}  // namespace memtrace::simulator::host_memory
