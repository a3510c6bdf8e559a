// SPDX-License-Identifier: Apache-2.0
//
// Device, managed and pinned memory of the runtime API.
#include <cuda_runtime_api.h>

#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/memory_calls.h"

using namespace memtrace::simulator;

namespace {

void* pointer_to(address_t address) {
  return reinterpret_cast<void*>(address);
}
address_t address_of(const void* pointer) {
  return reinterpret_cast<address_t>(pointer);
}

// Writes the pointer only on success, as the real calls do.
template <typename Allocate>
cudaError_t give(void** result, const Allocate& allocate) {
  address_t address = 0;
  const cudaError_t error = allocate(address);
  if (error == cudaSuccess) *result = pointer_to(address);
  return remember(error);
}

cudaError_t pitched(void** result, std::size_t* pitch, std::size_t width, std::size_t rows) {
  if (!result || !pitch) return remember(cudaErrorInvalidValue);
  return give(result, [&](address_t& address) {
    return memory_calls::allocate_pitched(width, rows, address, *pitch);
  });
}

cudaError_t host(void** result, std::size_t bytes, unsigned flags) {
  if (!result) return remember(cudaErrorInvalidValue);
  constexpr unsigned known =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if ((flags & ~known) != 0) return remember(cudaErrorInvalidValue);
  void* pointer = nullptr;
  const cudaError_t error = memory_calls::allocate_host(bytes, flags, pointer);
  if (error == cudaSuccess) *result = pointer;
  return remember(error);
}

}  // namespace

MEMTRACE_API cudaError_t cudaMalloc(void** result, std::size_t bytes) {
  if (!result) return remember(cudaErrorInvalidValue);
  return give(result, [&](address_t& address) { return memory_calls::allocate(bytes, address); });
}

MEMTRACE_API cudaError_t cudaMallocPitch(void** result, std::size_t* pitch, std::size_t width,
                                         std::size_t height) {
  return pitched(result, pitch, width, height);
}

MEMTRACE_API cudaError_t cudaMalloc3D(cudaPitchedPtr* result, cudaExtent extent) {
  if (!result) return remember(cudaErrorInvalidValue);
  result->xsize = extent.width;
  result->ysize = extent.height;
  return pitched(&result->ptr, &result->pitch, extent.width, extent.height * extent.depth);
}

MEMTRACE_API cudaError_t cudaMallocManaged(void** result, std::size_t bytes, unsigned flags) {
  const bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost;
  if (!result || !known) return remember(cudaErrorInvalidValue);
  return give(result,
              [&](address_t& address) { return memory_calls::allocate_managed(bytes, address); });
}

MEMTRACE_API cudaError_t cudaFree(void* pointer) {
  return remember(memory_calls::free(address_of(pointer)));
}

MEMTRACE_API cudaError_t cudaMallocHost(void** result, std::size_t bytes) {
  return host(result, bytes, cudaHostAllocDefault);
}

MEMTRACE_API cudaError_t cudaHostAlloc(void** result, std::size_t bytes, unsigned flags) {
  return host(result, bytes, flags);
}

MEMTRACE_API cudaError_t cudaFreeHost(void* pointer) {
  return remember(memory_calls::free_host(pointer));
}

MEMTRACE_API cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return remember(memory_calls::register_host(pointer, bytes, flags));
}

MEMTRACE_API cudaError_t cudaHostUnregister(void* pointer) {
  return remember(memory_calls::unregister_host(pointer));
}

// Pinned memory has the same address on host and device.
MEMTRACE_API cudaError_t cudaHostGetDevicePointer(void** result, void* pointer, unsigned flags) {
  const memory_kind kind = find(pointer).kind;
  const bool pinned = kind == memory_kind::host || kind == memory_kind::registered;
  if (!result || flags != 0 || !pinned) return remember(cudaErrorInvalidValue);
  *result = pointer;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  const memory_range range = find(pointer);
  const bool pinned = range.kind == memory_kind::host || range.kind == memory_kind::registered;
  if (!flags || !pinned) return remember(cudaErrorInvalidValue);
  *flags = range.flags | cudaHostAllocMapped;
  return cudaSuccess;
}

MEMTRACE_API cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  if (!free || !total) return remember(cudaErrorInvalidValue);
  return remember(memory_calls::information(*free, *total));
}
