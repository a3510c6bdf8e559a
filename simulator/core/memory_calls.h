// SPDX-License-Identifier: Apache-2.0
//
// Memory calls that the runtime and the driver share, with context, capture checks and the implicit
// synchronisation of freeing.
#pragma once

#include <cuda_runtime_api.h>

#include "simulator/core/activity.h"
#include "simulator/core/device_memory.h"

namespace memtrace::simulator::memory_calls {

// Errors: 2 full, 900 in a capture that prohibits it, those of ensure_context.
[[nodiscard]] cudaError_t allocate(std::size_t bytes, address_t& address,
                                   activity::memory_type type = activity::memory_type::device);

// Rows of `width` bytes, `pitch` apart: a multiple of the 512 bytes of textures.
[[nodiscard]] cudaError_t allocate_pitched(std::size_t width, std::size_t rows, address_t& address,
                                           std::size_t& pitch);

// Device, managed and pool memory, after waiting for the device. Null is success. Error 1: no
// allocation starts there, or it has been freed.
[[nodiscard]] cudaError_t free(address_t address,
                               activity::memory_type type = activity::memory_type::device);

[[nodiscard]] cudaError_t allocate_managed(std::size_t bytes, address_t& address);

[[nodiscard]] cudaError_t allocate_host(std::size_t bytes, unsigned flags, void*& pointer);
[[nodiscard]] cudaError_t free_host(void* pointer);
[[nodiscard]] cudaError_t register_host(void* pointer, std::size_t bytes, unsigned flags);
[[nodiscard]] cudaError_t unregister_host(void* pointer);

// Stream-ordered; null pool: the current one of the stream's device. In a capture the memory is
// taken at once and stays until it is freed outside, which costs at least what a graph's would.
[[nodiscard]] cudaError_t allocate_async(std::size_t bytes, cudaMemPool_t pool, cudaStream_t handle,
                                         bool per_thread, address_t& address);
[[nodiscard]] cudaError_t free_async(address_t address, cudaStream_t handle, bool per_thread);

// Waits for all work of the device. Errors of captures. The first makes the device's context the
// thread's.
[[nodiscard]] cudaError_t synchronize_device(int device);
[[nodiscard]] cudaError_t wait_for_device(int device);

// free and total of the current device, in bytes.
[[nodiscard]] cudaError_t information(std::size_t& free, std::size_t& total);

}  // namespace memtrace::simulator::memory_calls
