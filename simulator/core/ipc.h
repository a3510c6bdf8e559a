// SPDX-License-Identifier: Apache-2.0
//
// Device memory shared between processes by handle. What is opened is foreign: it has an address
// and costs nothing here, since its owner pays for it. Contents are not shared.
#pragma once

#include <cuda_runtime_api.h>

#include "simulator/core/device_memory.h"

namespace memtrace::simulator::ipc {

// Error 1 unless the address lies in memory of cudaMalloc. The handle names the whole allocation.
[[nodiscard]] cudaError_t export_memory(cudaIpcMemHandle_t& handle, address_t address);

// The same address for a handle opened twice. Errors: 1 no such handle; 201 exported by this
// process, as the driver refuses to open its own.
[[nodiscard]] cudaError_t open(address_t& address, const cudaIpcMemHandle_t& handle, int device);

// Error 1 unless open.
[[nodiscard]] cudaError_t close(address_t address);

}  // namespace memtrace::simulator::ipc
