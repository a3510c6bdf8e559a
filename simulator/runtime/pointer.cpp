// SPDX-License-Identifier: Apache-2.0
//
// What the runtime says of an address, and hints about managed memory, which change nothing here.
#include <cuda_runtime_api.h>

#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/residency.h"

using namespace memtrace::simulator;

namespace {

cudaMemoryType type_of(memory_kind kind) {
  switch (kind) {
    case memory_kind::host:
    case memory_kind::registered:
      return cudaMemoryTypeHost;
    case memory_kind::device:
      return cudaMemoryTypeDevice;
    case memory_kind::managed:
      return cudaMemoryTypeManaged;
    case memory_kind::unknown:
      break;
  }
  return cudaMemoryTypeUnregistered;
}

}  // namespace

// Ordinary memory is no error: its type is "unregistered" and its device -2, as since CUDA 11.
MEMTRACE_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* result,
                                                  const void* pointer) {
  if (!result) return remember(cudaErrorInvalidValue);
  const memory_range range = find(pointer);
  *result = cudaPointerAttributes{};
  result->type = type_of(range.kind);
  result->device = -2;
  void* const address = const_cast<void*>(pointer);
  if (range.kind != memory_kind::unknown) {
    result->device = range.device;
    result->devicePointer = address;
  }
  if (range.kind != memory_kind::device) result->hostPointer = address;
  return cudaSuccess;
}

// bitsandbytes asks for these. Advice has nothing to do.
#if CUDART_VERSION >= 13000
MEMTRACE_API cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes,
                                              cudaMemLocation to, unsigned, cudaStream_t) {
  return remember(residency::prefetch(
      pointer, bytes, to.type == cudaMemLocationTypeDevice ? to.id : residency::host));
}

MEMTRACE_API cudaError_t cudaMemAdvise(const void* pointer, std::size_t, cudaMemoryAdvise,
                                       cudaMemLocation) {
  return remember(find(pointer).kind == memory_kind::managed ? cudaSuccess : cudaErrorInvalidValue);
}
#else
MEMTRACE_API cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int to,
                                              cudaStream_t) {
  return remember(residency::prefetch(pointer, bytes, to));  // cudaCpuDeviceId is -1
}

MEMTRACE_API cudaError_t cudaMemAdvise(const void* pointer, std::size_t, cudaMemoryAdvise, int) {
  return remember(find(pointer).kind == memory_kind::managed ? cudaSuccess : cudaErrorInvalidValue);
}
#endif
