// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/device_reset.h"

#include "simulator/core/device_memory.h"
#include "simulator/core/graph_memory.h"
#include "simulator/core/host_memory.h"
#include "simulator/core/memory_calls.h"
#include "simulator/core/pools.h"
#include "simulator/core/registry.h"

namespace memtrace::simulator {
namespace {

cudaError_t end(const memory_range& range) {
  switch (range.kind) {
    case memory_kind::host:
      return host_memory::free(reinterpret_cast<void*>(range.base));
    case memory_kind::registered:
      return host_memory::unregister_range(reinterpret_cast<void*>(range.base));
    case memory_kind::managed:
      return host_memory::free_managed(range.base);
    case memory_kind::device:
      return free_device(range.base);
    case memory_kind::unknown:
      break;
  }
  return cudaSuccess;
}

cudaError_t end_allocations(CUcontext context) {
  for (const memory_range& range : registry::of_context(context)) {
    if (const cudaError_t error = end(range); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t reset_device(int device) {
  if (!context_active(device)) return cudaSuccess;
  if (const cudaError_t error = memory_calls::synchronize_device(device); error != cudaSuccess) {
    return error;
  }
  if (const cudaError_t error = end_allocations(primary_context(device)); error != cudaSuccess) {
    return error;
  }
  for (const address_t address : registry::pool_memory_on(device)) {
    if (const cudaError_t error = pools::free_now(address); error != cudaSuccess) return error;
  }
  pools::release_unused(device);
  graph_memory::reset(device);
  deactivate_context(device);
  return cudaSuccess;
}

cudaError_t end_context(CUcontext context) {
  const int device = context_device(context);
  if (device < 0 || context == primary_context(device)) return cudaErrorDeviceUninitialized;
  if (const cudaError_t error = memory_calls::wait_for_device(device); error != cudaSuccess) {
    return error;
  }
  if (const cudaError_t error = end_allocations(context); error != cudaSuccess) return error;
  return destroy_context(context);
}

}  // namespace memtrace::simulator
