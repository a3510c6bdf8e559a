// SPDX-License-Identifier: Apache-2.0
//
// Memory pools of cudaMallocAsync. A pool reserves memory of its device in steps and hands it out;
// what is freed stays reserved up to the release threshold. As a driver with the default reuse
// attributes does, memory freed on one stream serves any other at once, which then waits for the
// first; and physical pages are mapped where needed, so that a pool does not fragment.
#pragma once

#include <cuda_runtime_api.h>

#include "simulator/core/device_memory.h"
#include "simulator/core/streams.h"

namespace memtrace::simulator::pools {

struct pool;

// A device's default pool, and the one that cudaMallocAsync uses.
[[nodiscard]] cudaMemPool_t default_of(int device);
[[nodiscard]] cudaMemPool_t current_of(int device);
// Errors: 1 unknown pool or one of another device.
[[nodiscard]] cudaError_t set_current(int device, cudaMemPool_t pool);

// How a pool may be shared. An imported one is another process's: nothing is allocated from it.
enum class kind : std::uint8_t { own, exportable, imported };
[[nodiscard]] cudaError_t create(int device, cudaMemPool_t& pool, kind shared = kind::own);
[[nodiscard]] bool exportable(cudaMemPool_t pool);
[[nodiscard]] bool imported(cudaMemPool_t pool);
// A default pool cannot be destroyed (1). Live allocations stay valid until they are freed.
[[nodiscard]] cudaError_t destroy(cudaMemPool_t pool);

// Error 1: unknown pool. Error 2: full.
[[nodiscard]] cudaError_t allocate(cudaMemPool_t pool, std::size_t bytes, stream& stream,
                                   address_t& address);
// Error 1 unless it is the start of a live allocation of a pool.
[[nodiscard]] cudaError_t free(address_t address, stream& stream);
// As cudaFree does with a pool's pointer: the caller has synchronised.
[[nodiscard]] cudaError_t free_now(address_t address);

[[nodiscard]] cudaError_t trim(cudaMemPool_t pool, std::size_t keep);
// Attribute numbers are the same in the runtime and the driver.
[[nodiscard]] cudaError_t set_attribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                        const void* value);
[[nodiscard]] cudaError_t get_attribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
[[nodiscard]] int device_of(cudaMemPool_t pool);  // -1: unknown pool

// After any synchronisation: pools give back what they hold above their release threshold.
void synchronized(int device);

// Gives back all that the device's pools hold and do not use; bytes.
std::uint64_t release_unused(int device);

}  // namespace memtrace::simulator::pools
