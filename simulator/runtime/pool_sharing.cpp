// SPDX-License-Identifier: Apache-2.0
//
// Memory pools and their allocations shared between processes, in the runtime and the driver API.
// An imported pool is its owner's: nothing can be allocated from it here.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/foreign.h"
#include "simulator/core/pools.h"

using namespace memtrace::simulator;

static_assert(sizeof(CUmemPoolPtrExportData) == sizeof(cudaMemPoolPtrExportData));

namespace {

// The content of a pool's file descriptor, and of an allocation's 64 bytes.
struct exported_pool {
  char magic[8];
  std::int64_t device;
};
struct exported_memory {
  char magic[8];
  address_t base;
  std::uint64_t size;
};
constexpr char pool_magic[8] = {'m', 't', 'p', 'o', 'o', 'l', '0', '1'};
constexpr char memory_magic[8] = {'m', 't', 'p', 'm', 'e', 'm', '0', '1'};
static_assert(sizeof(exported_memory) <= sizeof(CUmemPoolPtrExportData));

template <typename Content>
bool is(const Content& content, const char (&magic)[8]) {
  return std::equal(std::begin(magic), std::end(magic), content.magic);
}

cudaError_t export_pool(int* descriptor, cudaMemPool_t pool, bool by_descriptor,
                        unsigned long long flags) {
  const int device = pools::device_of(pool);
  if (!descriptor || device < 0 || flags != 0) return cudaErrorInvalidValue;
  if (!by_descriptor) return cudaErrorNotSupported;
  if (!pools::exportable(pool)) return cudaErrorInvalidValue;
  exported_pool content{};
  std::copy(std::begin(pool_magic), std::end(pool_magic), content.magic);
  content.device = device;
  const int file = memfd_create("memtrace-pool", MFD_CLOEXEC);
  if (file < 0) return cudaErrorOperatingSystem;
  if (pwrite(file, &content, sizeof content, 0) != sizeof content) {
    close(file);
    return cudaErrorOperatingSystem;
  }
  *descriptor = file;
  return cudaSuccess;
}

cudaError_t import_pool(cudaMemPool_t* pool, void* handle, bool by_descriptor,
                        unsigned long long flags) {
  if (!pool || flags != 0) return cudaErrorInvalidValue;
  if (!by_descriptor) return cudaErrorNotSupported;
  exported_pool content{};
  const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
  const bool read = pread(file, &content, sizeof content, 0) == sizeof content;
  const int device = static_cast<int>(content.device);
  if (!read || !is(content, pool_magic) || !valid_device(device)) return cudaErrorInvalidValue;
  return pools::create(device, *pool, pools::kind::imported);
}

cudaError_t export_pointer(void* data, address_t address) {
  const memory_range range = find(address);
  if (!data || !range.pool) return cudaErrorInvalidValue;
  exported_memory content{};
  std::copy(std::begin(memory_magic), std::end(memory_magic), content.magic);
  content.base = range.base;
  content.size = range.size;
  std::memset(data, 0, sizeof(CUmemPoolPtrExportData));
  std::memcpy(data, &content, sizeof content);
  return cudaSuccess;
}

cudaError_t import_pointer(address_t& address, cudaMemPool_t pool, const void* data) {
  if (!data || !pools::imported(pool)) return cudaErrorInvalidValue;
  exported_memory content{};
  std::memcpy(&content, data, sizeof content);
  if (!is(content, memory_magic)) return cudaErrorInvalidValue;
  return foreign::map(address, content.size, pools::device_of(pool), true);
}

bool by_descriptor(cudaMemAllocationHandleType type) {
  return type == cudaMemHandleTypePosixFileDescriptor;
}
bool by_descriptor(CUmemAllocationHandleType type) {
  return type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

}  // namespace

MEMTRACE_API cudaError_t cudaMemPoolExportToShareableHandle(void* result, cudaMemPool_t pool,
                                                            cudaMemAllocationHandleType type,
                                                            unsigned flags) {
  return remember(export_pool(static_cast<int*>(result), pool, by_descriptor(type), flags));
}

MEMTRACE_API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* pool, void* handle,
                                                              cudaMemAllocationHandleType type,
                                                              unsigned flags) {
  return remember(import_pool(pool, handle, by_descriptor(type), flags));
}

MEMTRACE_API cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* pointer) {
  return remember(export_pointer(data, reinterpret_cast<address_t>(pointer)));
}

MEMTRACE_API cudaError_t cudaMemPoolImportPointer(void** pointer, cudaMemPool_t pool,
                                                  cudaMemPoolPtrExportData* data) {
  if (!pointer) return remember(cudaErrorInvalidValue);
  address_t address = 0;
  const cudaError_t error = import_pointer(address, pool, data);
  if (error == cudaSuccess) *pointer = reinterpret_cast<void*>(address);
  return remember(error);
}

MEMTRACE_API CUresult cuMemPoolExportToShareableHandle(void* result, CUmemoryPool pool,
                                                       CUmemAllocationHandleType type,
                                                       unsigned long long flags) {
  return driver_result(export_pool(static_cast<int*>(result), pool, by_descriptor(type), flags));
}

MEMTRACE_API CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool, void* handle,
                                                         CUmemAllocationHandleType type,
                                                         unsigned long long flags) {
  return driver_result(import_pool(pool, handle, by_descriptor(type), flags));
}

MEMTRACE_API CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr address) {
  return driver_result(export_pointer(data, address));
}

MEMTRACE_API CUresult cuMemPoolImportPointer(CUdeviceptr* result, CUmemoryPool pool,
                                             CUmemPoolPtrExportData* data) {
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  address_t address = 0;
  const cudaError_t error = import_pointer(address, pool, data);
  if (error == cudaSuccess) *result = address;
  return driver_result(error);
}

#if CUDA_VERSION >= 13000
namespace {

template <typename Location>
cudaError_t check(const Location* location, bool pinned) {
  if (!location || !pinned || static_cast<int>(location->type) != cudaMemLocationTypeDevice) {
    return cudaErrorInvalidValue;
  }
  return valid_device(location->id) ? cudaSuccess : cudaErrorInvalidDevice;
}

template <typename Location>
cudaError_t default_pool(cudaMemPool_t* pool, const Location* location, bool pinned) {
  if (!pool) return cudaErrorInvalidValue;
  const cudaError_t error = check(location, pinned);
  if (error == cudaSuccess) *pool = pools::default_of(location->id);
  return error;
}

template <typename Location>
cudaError_t current_pool(cudaMemPool_t* pool, const Location* location, bool pinned) {
  if (!pool) return cudaErrorInvalidValue;
  const cudaError_t error = check(location, pinned);
  if (error == cudaSuccess) *pool = pools::current_of(location->id);
  return error;
}

template <typename Location>
cudaError_t choose_pool(const Location* location, bool pinned, cudaMemPool_t pool) {
  const cudaError_t error = check(location, pinned);
  return error == cudaSuccess ? pools::set_current(location->id, pool) : error;
}

bool pinned(CUmemAllocationType type) {
  return type == CU_MEM_ALLOCATION_TYPE_PINNED;
}
bool pinned(cudaMemAllocationType type) {
  return type == cudaMemAllocationTypePinned;
}

}  // namespace

MEMTRACE_API CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                             CUmemAllocationType type) {
  return driver_result(default_pool(pool, location, pinned(type)));
}

MEMTRACE_API CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                      CUmemAllocationType type) {
  return driver_result(current_pool(pool, location, pinned(type)));
}

MEMTRACE_API CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type,
                                      CUmemoryPool pool) {
  return driver_result(choose_pool(location, pinned(type), pool));
}

MEMTRACE_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                                  cudaMemAllocationType type) {
  return remember(default_pool(pool, location, pinned(type)));
}

MEMTRACE_API cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                           cudaMemAllocationType type) {
  return remember(current_pool(pool, location, pinned(type)));
}

MEMTRACE_API cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                                           cudaMemPool_t pool) {
  return remember(choose_pool(location, pinned(type), pool));
}
#endif
