// SPDX-License-Identifier: Apache-2.0
//
// Memory of other APIs, in the runtime and the driver API: external memory by file descriptor, and
// OpenGL buffers, of which the simulated machine has one of 1 MiB for every name. They cost nothing
// on the device: who made them paid.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <set>

#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/foreign.h"
#include "simulator/core/streams.h"

#undef cuGraphicsResourceGetMappedPointer

using namespace memtrace::simulator;

namespace {

struct external_memory {
  std::uint64_t bytes;
  int device;
  std::set<address_t> buffers;
};

struct graphics_resource {
  address_t mapped = 0;
};

constexpr std::size_t buffer_bytes = 1u << 20;

struct state_type {
  std::mutex mutex;
  std::uint64_t last_handle = 0x00ee'0000'0000'0000;  // not a valid address
  std::map<std::uint64_t, external_memory> imported;
  std::map<std::uint64_t, graphics_resource> resources;
};

state_type& state() {
  static state_type* const instance = new state_type;
  return *instance;
}

template <typename Handle>
std::uint64_t number(Handle handle) {
  return reinterpret_cast<std::uint64_t>(handle);
}

template <typename Handle>
cudaError_t import(Handle* result, bool is_descriptor, int descriptor, std::uint64_t bytes) {
  if (!result || bytes == 0) return cudaErrorInvalidValue;
  if (!is_descriptor) return cudaErrorNotSupported;
  if (fcntl(descriptor, F_GETFD) < 0) return cudaErrorInvalidValue;
  if (const cudaError_t error = ensure_context(); error != cudaSuccess) return error;
  close(descriptor);  // as documented: a successful import owns it
  const std::lock_guard lock(state().mutex);
  const std::uint64_t handle = state().last_handle += 0x100;
  state().imported[handle] = {bytes, current_device(), {}};
  *result = reinterpret_cast<Handle>(handle);
  return cudaSuccess;
}

cudaError_t map(address_t& address, std::uint64_t handle, std::uint64_t offset,
                std::uint64_t bytes) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().imported.find(handle);
  if (found == state().imported.end()) return cudaErrorInvalidResourceHandle;
  external_memory& memory = found->second;
  if (offset > memory.bytes || bytes > memory.bytes - offset) return cudaErrorInvalidValue;
  const cudaError_t error = foreign::map(address, bytes, memory.device, true);
  if (error == cudaSuccess) memory.buffers.insert(address);
  return error;
}

template <typename Handle>
cudaError_t map_array(Handle& result, std::uint64_t handle, std::uint64_t offset, unsigned levels) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().imported.find(handle);
  if (found == state().imported.end()) return cudaErrorInvalidResourceHandle;
  if (offset >= found->second.bytes || levels == 0) return cudaErrorInvalidValue;
  result = reinterpret_cast<Handle>(state().last_handle += 0x100);
  return cudaSuccess;
}

// Buffers are freed by cudaFree, before this; those that are left go with it.
cudaError_t destroy(std::uint64_t handle) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().imported.find(handle);
  if (found == state().imported.end()) return cudaErrorInvalidResourceHandle;
  for (const address_t buffer : found->second.buffers) {
    [[maybe_unused]] const cudaError_t gone = foreign::unmap(buffer);
  }
  state().imported.erase(found);
  return cudaSuccess;
}

template <typename Handle>
cudaError_t register_buffer(Handle* result, unsigned name) {
  if (!result || name == 0) return cudaErrorInvalidValue;
  if (const cudaError_t error = ensure_context(); error != cudaSuccess) return error;
  const std::lock_guard lock(state().mutex);
  const std::uint64_t handle = state().last_handle += 0x100;
  state().resources[handle] = {};
  *result = reinterpret_cast<Handle>(handle);
  return cudaSuccess;
}

cudaError_t unregister(std::uint64_t handle) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().resources.find(handle);
  if (found == state().resources.end()) return cudaErrorInvalidResourceHandle;
  if (found->second.mapped != 0) (void)foreign::unmap(found->second.mapped);
  state().resources.erase(found);
  return cudaSuccess;
}

template <typename Handle>
cudaError_t map_all(unsigned count, const Handle* handles, cudaStream_t stream) {
  if (!handles || !streams::find(stream)) return cudaErrorInvalidResourceHandle;
  const std::lock_guard lock(state().mutex);
  for (unsigned i = 0; i < count; ++i) {
    const auto found = state().resources.find(number(handles[i]));
    if (found == state().resources.end()) return cudaErrorInvalidResourceHandle;
    if (found->second.mapped != 0) return cudaErrorAlreadyMapped;
    const cudaError_t error = foreign::map(found->second.mapped, buffer_bytes, current_device());
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

template <typename Handle>
cudaError_t unmap_all(unsigned count, const Handle* handles, cudaStream_t stream) {
  if (!handles || !streams::find(stream)) return cudaErrorInvalidResourceHandle;
  const std::lock_guard lock(state().mutex);
  for (unsigned i = 0; i < count; ++i) {
    const auto found = state().resources.find(number(handles[i]));
    if (found == state().resources.end()) return cudaErrorInvalidResourceHandle;
    if (found->second.mapped == 0) return cudaErrorNotMapped;
    (void)foreign::unmap(found->second.mapped);
    found->second.mapped = 0;
  }
  return cudaSuccess;
}

cudaError_t mapped(address_t& address, std::uint64_t handle) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().resources.find(handle);
  if (found == state().resources.end()) return cudaErrorInvalidResourceHandle;
  if (found->second.mapped == 0) return cudaErrorNotMapped;
  address = found->second.mapped;
  return cudaSuccess;
}

CUresult mapped(CUdeviceptr* result, std::size_t* bytes, CUgraphicsResource resource) {
  address_t address = 0;
  const cudaError_t error = mapped(address, number(resource));
  if (error != cudaSuccess) return driver_result(error);
  if (result) *result = address;
  if (bytes) *bytes = buffer_bytes;
  return CUDA_SUCCESS;
}

}  // namespace

MEMTRACE_API cudaError_t cudaImportExternalMemory(cudaExternalMemory_t* result,
                                                  const cudaExternalMemoryHandleDesc* what) {
  if (!what) return remember(cudaErrorInvalidValue);
  const bool descriptor = what->type == cudaExternalMemoryHandleTypeOpaqueFd;
  return remember(import(result, descriptor, what->handle.fd, what->size));
}

MEMTRACE_API cudaError_t cudaExternalMemoryGetMappedBuffer(
    void** result, cudaExternalMemory_t from, const cudaExternalMemoryBufferDesc* what) {
  if (!result || !what) return remember(cudaErrorInvalidValue);
  address_t address = 0;
  const cudaError_t error = map(address, number(from), what->offset, what->size);
  if (error == cudaSuccess) *result = reinterpret_cast<void*>(address);
  return remember(error);
}

// Arrays in external memory are no arrays of arrays.h: their handle is good for nothing but passing
// it on.
MEMTRACE_API cudaError_t
cudaExternalMemoryGetMappedMipmappedArray(cudaMipmappedArray_t* result, cudaExternalMemory_t from,
                                          const cudaExternalMemoryMipmappedArrayDesc* what) {
  if (!result || !what) return remember(cudaErrorInvalidValue);
  return remember(map_array(*result, number(from), what->offset, what->numLevels));
}

MEMTRACE_API cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory) {
  return remember(destroy(number(memory)));
}

MEMTRACE_API CUresult cuImportExternalMemory(CUexternalMemory* result,
                                             const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* what) {
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  if (!what) return CUDA_ERROR_INVALID_VALUE;
  const bool descriptor = what->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  return driver_result(import(result, descriptor, what->handle.fd, what->size));
}

MEMTRACE_API CUresult cuExternalMemoryGetMappedBuffer(
    CUdeviceptr* result, CUexternalMemory from, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* what) {
  if (!result || !what) return CUDA_ERROR_INVALID_VALUE;
  address_t address = 0;
  const cudaError_t error = map(address, number(from), what->offset, what->size);
  if (error == cudaSuccess) *result = address;
  return driver_result(error);
}

MEMTRACE_API CUresult
cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray* result, CUexternalMemory from,
                                        const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* what) {
  if (!result || !what) return CUDA_ERROR_INVALID_VALUE;
  return driver_result(map_array(*result, number(from), what->offset, what->numLevels));
}

MEMTRACE_API CUresult cuDestroyExternalMemory(CUexternalMemory memory) {
  return driver_result(destroy(number(memory)));
}

MEMTRACE_API CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource* result, unsigned name,
                                                 unsigned) {
  return driver_result(register_buffer(result, name));
}

MEMTRACE_API cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource_t* result, unsigned name,
                                                      unsigned) {
  return remember(register_buffer(result, name));
}

MEMTRACE_API CUresult cuGraphicsUnregisterResource(CUgraphicsResource resource) {
  return driver_result(unregister(number(resource)));
}

MEMTRACE_API cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource) {
  return remember(unregister(number(resource)));
}

MEMTRACE_API CUresult cuGraphicsMapResources(unsigned count, CUgraphicsResource* resources,
                                             CUstream stream) {
  return driver_result(map_all(count, resources, stream));
}

MEMTRACE_API CUresult cuGraphicsMapResources_ptsz(unsigned count, CUgraphicsResource* resources,
                                                  CUstream stream) {
  return driver_result(map_all(count, resources, stream ? stream : cudaStreamPerThread));
}

MEMTRACE_API cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t* resources,
                                                  cudaStream_t stream) {
  return remember(map_all(static_cast<unsigned>(count), resources, stream));
}

MEMTRACE_API CUresult cuGraphicsUnmapResources(unsigned count, CUgraphicsResource* resources,
                                               CUstream stream) {
  return driver_result(unmap_all(count, resources, stream));
}

MEMTRACE_API CUresult cuGraphicsUnmapResources_ptsz(unsigned count, CUgraphicsResource* resources,
                                                    CUstream stream) {
  return driver_result(unmap_all(count, resources, stream ? stream : cudaStreamPerThread));
}

MEMTRACE_API cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t* resources,
                                                    cudaStream_t stream) {
  return remember(unmap_all(static_cast<unsigned>(count), resources, stream));
}

// The first version's address has 32 bits, which no address here fits into.
MEMTRACE_API CUresult cuGraphicsResourceGetMappedPointer(unsigned*, unsigned*,
                                                         CUgraphicsResource resource) {
  if (const CUresult error = check_context(old_context); error != CUDA_SUCCESS) return error;
  const CUresult found = mapped(nullptr, nullptr, resource);
  return found == CUDA_SUCCESS ? CUDA_ERROR_NOT_MAPPED_AS_POINTER : found;
}

MEMTRACE_API CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr* result, std::size_t* bytes,
                                                            CUgraphicsResource resource) {
  return mapped(result, bytes, resource);
}

MEMTRACE_API cudaError_t cudaGraphicsResourceGetMappedPointer(void** result, std::size_t* bytes,
                                                              cudaGraphicsResource_t resource) {
  address_t address = 0;
  const cudaError_t error = mapped(address, number(resource));
  if (error != cudaSuccess) return remember(error);
  if (result) *result = reinterpret_cast<void*>(address);
  if (bytes) *bytes = buffer_bytes;
  return cudaSuccess;
}
