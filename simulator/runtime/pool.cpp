// SPDX-License-Identifier: Apache-2.0
//
// Stream-ordered allocation and memory pools of the runtime API.
#include <cuda_runtime_api.h>

#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/memory_calls.h"
#include "simulator/core/pools.h"

using namespace memtrace::simulator;

namespace {

cudaError_t allocate(void** result, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                     bool per_thread) {
  if (!result) return remember(cudaErrorInvalidValue);
  address_t address = 0;
  const cudaError_t error = memory_calls::allocate_async(bytes, pool, stream, per_thread, address);
  if (error == cudaSuccess) *result = reinterpret_cast<void*>(address);
  return remember(error);
}

cudaError_t free(void* pointer, cudaStream_t stream, bool per_thread) {
  return remember(
      memory_calls::free_async(reinterpret_cast<address_t>(pointer), stream, per_thread));
}

}  // namespace

MEMTRACE_API cudaError_t cudaMallocAsync(void** result, std::size_t bytes, cudaStream_t stream) {
  return allocate(result, bytes, nullptr, stream, false);
}

MEMTRACE_API cudaError_t cudaMallocAsync_ptsz(void** result, std::size_t bytes,
                                              cudaStream_t stream) {
  return allocate(result, bytes, nullptr, stream, true);
}

MEMTRACE_API cudaError_t cudaMallocFromPoolAsync(void** result, std::size_t bytes,
                                                 cudaMemPool_t pool, cudaStream_t stream) {
  if (!pool) return remember(cudaErrorInvalidValue);
  return allocate(result, bytes, pool, stream, false);
}

MEMTRACE_API cudaError_t cudaMallocFromPoolAsync_ptsz(void** result, std::size_t bytes,
                                                      cudaMemPool_t pool, cudaStream_t stream) {
  if (!pool) return remember(cudaErrorInvalidValue);
  return allocate(result, bytes, pool, stream, true);
}

MEMTRACE_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return free(pointer, stream, false);
}

MEMTRACE_API cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream) {
  return free(pointer, stream, true);
}

MEMTRACE_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (!pool) return remember(cudaErrorInvalidValue);
  if (!valid_device(device)) return remember(cudaErrorInvalidDevice);
  *pool = pools::default_of(device);
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  if (!pool) return remember(cudaErrorInvalidValue);
  if (!valid_device(device)) return remember(cudaErrorInvalidDevice);
  *pool = pools::current_of(device);
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (!valid_device(device)) return remember(cudaErrorInvalidDevice);
  return remember(pools::set_current(device, pool));
}

MEMTRACE_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
  if (!pool || !props || props->location.type != cudaMemLocationTypeDevice) {
    return remember(cudaErrorInvalidValue);
  }
  if (!valid_device(props->location.id)) return remember(cudaErrorInvalidDevice);
  const bool shared = props->handleTypes != cudaMemHandleTypeNone;
  return remember(pools::create(props->location.id, *pool,
                                shared ? pools::kind::exportable : pools::kind::own));
}

MEMTRACE_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return remember(pools::destroy(pool));
}

MEMTRACE_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t keep) {
  return remember(pools::trim(pool, keep));
}

MEMTRACE_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                                 void* value) {
  return remember(pools::set_attribute(pool, attribute, value));
}

MEMTRACE_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                                 void* value) {
  return remember(pools::get_attribute(pool, attribute, value));
}

// Every simulated device can reach the memory of every other: access needs no bookkeeping.
MEMTRACE_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list,
                                              std::size_t count) {
  if (pools::device_of(pool) < 0 || (count != 0 && !list)) return remember(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].location.type == cudaMemLocationTypeDevice && !valid_device(list[i].location.id)) {
      return remember(cudaErrorInvalidDevice);
    }
  }
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                              cudaMemLocation* location) {
  if (!flags || !location || pools::device_of(pool) < 0) return remember(cudaErrorInvalidValue);
  *flags = cudaMemAccessFlagsProtReadWrite;
  return cudaSuccess;
}
