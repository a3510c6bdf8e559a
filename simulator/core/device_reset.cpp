// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/device_reset.h"

#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"
#include "simulator/core/memory_calls.h"
#include "simulator/core/pools.h"
#include "simulator/core/registry.h"

namespace memtrace::simulator {

cudaError_t reset_device(int device) {
  if (!context_active(device)) return cudaSuccess;
  if (const cudaError_t error = memory_calls::synchronize_device(device); error != cudaSuccess) {
    return error;
  }
  for (const address_t address : registry::freeable_on(device)) {
    if (const cudaError_t error = memory_calls::free(address); error != cudaSuccess) return error;
  }
  pools::release_unused(device);
  deactivate_context(device);
  return cudaSuccess;
}

}  // namespace memtrace::simulator
