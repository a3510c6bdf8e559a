// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory management of the driver API.
#include "simulator/core/vmm.h"

#include <cuda.h>
#include <sys/mman.h>

#include "simulator/core/device.h"
#include "simulator/core/export.h"
#include "simulator/core/pools.h"
#include "simulator/core/streams.h"

using namespace memtrace::simulator;

MEMTRACE_API CUresult cuMemAddressReserve(CUdeviceptr* result, std::size_t bytes,
                                          std::size_t alignment, CUdeviceptr wanted,
                                          unsigned long long flags) {
  if (!result || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  address_t address = 0;
  const CUresult error = vmm::reserve(address, bytes, alignment, wanted);
  if (error == CUDA_SUCCESS) *result = address;
  return error;
}

MEMTRACE_API CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  return vmm::free_reservation(address, bytes);
}

MEMTRACE_API CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                                  const CUmemAllocationProp* prop, unsigned long long flags) {
  if (!handle || !prop || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return vmm::create(*handle, bytes, *prop);
}

MEMTRACE_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return vmm::release(handle);
}

MEMTRACE_API CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle,
                                                  void* address) {
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  return vmm::retain(*handle, reinterpret_cast<address_t>(address));
}

MEMTRACE_API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop,
                                                             CUmemGenericAllocationHandle handle) {
  if (!prop) return CUDA_ERROR_INVALID_VALUE;
  return vmm::properties(*prop, handle);
}

MEMTRACE_API CUresult cuMemGetAllocationGranularity(std::size_t* bytes,
                                                    const CUmemAllocationProp* prop,
                                                    CUmemAllocationGranularity_flags) {
  if (!bytes || !prop) return CUDA_ERROR_INVALID_VALUE;
  if (prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE && !valid_device(prop->location.id)) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *bytes = vmm::granularity;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                               CUmemGenericAllocationHandle handle, unsigned long long flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return vmm::map(address, bytes, offset, handle);
}

// Waits for all work, as the driver does before it takes the memory away.
MEMTRACE_API CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  const memory_range range = find(address);
  if (range.kind == memory_kind::device) {
    streams::synchronize_device(range.device);
    pools::synchronized(range.device);
  }
  return vmm::unmap(address, bytes);
}

MEMTRACE_API CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes,
                                     const CUmemAccessDesc* descriptions, std::size_t count) {
  return vmm::set_access(address, bytes, descriptions, count);
}

MEMTRACE_API CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                                     CUdeviceptr address) {
  if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
  return vmm::get_access(*flags, *location, address);
}

MEMTRACE_API CUresult cuMemExportToShareableHandle(void* result,
                                                   CUmemGenericAllocationHandle handle,
                                                   CUmemAllocationHandleType type,
                                                   unsigned long long flags) {
  if (!result || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  return vmm::export_descriptor(*static_cast<int*>(result), handle);
}

// The descriptor travels in the pointer itself.
MEMTRACE_API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle,
                                                     void* descriptor,
                                                     CUmemAllocationHandleType type) {
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  return vmm::import_descriptor(*handle, static_cast<int>(reinterpret_cast<intptr_t>(descriptor)));
}

// A descriptor that says nothing: only drivers of other devices could use it.
MEMTRACE_API CUresult cuMemGetHandleForAddressRange(void* handle, CUdeviceptr address,
                                                    std::size_t bytes, CUmemRangeHandleType type,
                                                    unsigned long long flags) {
  constexpr unsigned long long pcie = 1;  // CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE of 12.8
  const memory_range range = find(address);
  const std::size_t offset = address - range.base;
  const bool valid = handle && range.kind == memory_kind::device && bytes != 0 &&
                     bytes <= range.size - offset && type == CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD &&
                     (flags & ~pcie) == 0;
  if (!valid) return CUDA_ERROR_INVALID_VALUE;
  const int file = memfd_create("memtrace-dma-buf", MFD_CLOEXEC);
  if (file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  *static_cast<int*>(handle) = file;
  return CUDA_SUCCESS;
}
