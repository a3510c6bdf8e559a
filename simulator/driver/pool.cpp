// SPDX-License-Identifier: Apache-2.0
//
// Stream-ordered allocation and memory pools of the driver API.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/memory_calls.h"
#include "simulator/core/pools.h"

using namespace memtrace::simulator;

namespace {

CUresult allocate(CUdeviceptr* result, std::size_t bytes, CUmemoryPool pool, CUstream stream,
                  bool per_thread) {
  if (!result || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  address_t address = 0;
  const cudaError_t error = memory_calls::allocate_async(bytes, pool, stream, per_thread, address);
  if (error == cudaSuccess) *result = address;
  return driver_result(error);
}

}  // namespace

MEMTRACE_API CUresult cuMemAllocAsync(CUdeviceptr* result, std::size_t bytes, CUstream stream) {
  return allocate(result, bytes, nullptr, stream, false);
}

MEMTRACE_API CUresult cuMemAllocAsync_ptsz(CUdeviceptr* result, std::size_t bytes,
                                           CUstream stream) {
  return allocate(result, bytes, nullptr, stream, true);
}

MEMTRACE_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr* result, std::size_t bytes,
                                              CUmemoryPool pool, CUstream stream) {
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  return allocate(result, bytes, pool, stream, false);
}

MEMTRACE_API CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* result, std::size_t bytes,
                                                   CUmemoryPool pool, CUstream stream) {
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  return allocate(result, bytes, pool, stream, true);
}

MEMTRACE_API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return driver_result(memory_calls::free_async(address, stream, false));
}

MEMTRACE_API CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
  return driver_result(memory_calls::free_async(address, stream, true));
}

MEMTRACE_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *pool = pools::default_of(device);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *pool = pools::current_of(device);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  return driver_result(pools::set_current(device, pool));
}

MEMTRACE_API CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* props) {
  if (!pool || !props || props->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!valid_device(props->location.id)) return CUDA_ERROR_INVALID_DEVICE;
  const bool shared = props->handleTypes != CU_MEM_HANDLE_TYPE_NONE;
  return driver_result(pools::create(props->location.id, *pool,
                                     shared ? pools::kind::exportable : pools::kind::own));
}

MEMTRACE_API CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return driver_result(pools::destroy(pool));
}

MEMTRACE_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t keep) {
  return driver_result(pools::trim(pool, keep));
}

MEMTRACE_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                            void* value) {
  return driver_result(pools::set_attribute(pool, static_cast<cudaMemPoolAttr>(attribute), value));
}

MEMTRACE_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                            void* value) {
  return driver_result(pools::get_attribute(pool, static_cast<cudaMemPoolAttr>(attribute), value));
}

MEMTRACE_API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* list,
                                         std::size_t count) {
  if (pools::device_of(pool) < 0 || (count != 0 && !list)) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool,
                                         CUmemLocation* location) {
  if (!flags || !location || pools::device_of(pool) < 0) return CUDA_ERROR_INVALID_VALUE;
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}
