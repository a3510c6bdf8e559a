// SPDX-License-Identifier: Apache-2.0
//
// Device, managed and pinned memory of the driver API. The header's names stand for their current
// versions.
#include <cuda.h>

#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/memory_calls.h"

using namespace memtrace::simulator;

namespace {

// By reference: the call that makes `error` may be evaluated after the arguments next to it.
CUresult give(cudaError_t error, const address_t& address, CUdeviceptr* result) {
  if (error == cudaSuccess) *result = address;
  return driver_result(error);
}

CUresult pinned(void** result, std::size_t bytes, unsigned flags) {
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  if (!result || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  void* pointer = nullptr;
  const cudaError_t error = memory_calls::allocate_host(bytes, flags, pointer);
  if (error == cudaSuccess) *result = pointer;
  return driver_result(error);
}

}  // namespace

MEMTRACE_API CUresult cuMemAlloc(CUdeviceptr* result, std::size_t bytes) {
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  if (!result || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  address_t address = 0;
  return give(memory_calls::allocate(bytes, address), address, result);
}

MEMTRACE_API CUresult cuMemAllocPitch(CUdeviceptr* result, std::size_t* pitch, std::size_t width,
                                      std::size_t height, unsigned element) {
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  const bool known = element == 4 || element == 8 || element == 16;
  if (!result || !pitch || width == 0 || height == 0 || !known) return CUDA_ERROR_INVALID_VALUE;
  address_t address = 0;
  return give(memory_calls::allocate_pitched(width, height, address, *pitch), address, result);
}

MEMTRACE_API CUresult cuMemAllocManaged(CUdeviceptr* result, std::size_t bytes, unsigned flags) {
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  const bool known = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST;
  if (!result || bytes == 0 || !known) return CUDA_ERROR_INVALID_VALUE;
  address_t address = 0;
  return give(memory_calls::allocate_managed(bytes, address), address, result);
}

MEMTRACE_API CUresult cuMemFree(CUdeviceptr address) {
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  return driver_result(memory_calls::free(address));
}

MEMTRACE_API CUresult cuMemAllocHost(void** result, std::size_t bytes) {
  return pinned(result, bytes, 0);
}

MEMTRACE_API CUresult cuMemHostAlloc(void** result, std::size_t bytes, unsigned flags) {
  return pinned(result, bytes, flags);
}

MEMTRACE_API CUresult cuMemFreeHost(void* pointer) {
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  return driver_result(memory_calls::free_host(pointer));
}

MEMTRACE_API CUresult cuMemHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  return driver_result(memory_calls::register_host(pointer, bytes, flags));
}

MEMTRACE_API CUresult cuMemHostUnregister(void* pointer) {
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  return driver_result(memory_calls::unregister_host(pointer));
}

MEMTRACE_API CUresult cuMemHostGetDevicePointer(CUdeviceptr* result, void* pointer,
                                                unsigned flags) {
  const memory_kind kind = find(pointer).kind;
  const bool is_pinned = kind == memory_kind::host || kind == memory_kind::registered;
  if (!result || flags != 0 || !is_pinned) return CUDA_ERROR_INVALID_VALUE;
  *result = reinterpret_cast<CUdeviceptr>(pointer);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  const memory_range range = find(pointer);
  if (!flags || range.kind != memory_kind::host) return CUDA_ERROR_INVALID_VALUE;
  *flags = range.flags;
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  if (!free || !total) return CUDA_ERROR_INVALID_VALUE;
  return driver_result(memory_calls::information(*free, *total));
}

MEMTRACE_API CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* bytes,
                                           CUdeviceptr address) {
  const memory_range range = find(address);
  if (range.kind == memory_kind::unknown) return CUDA_ERROR_NOT_FOUND;
  if (base) *base = range.base;
  if (bytes) *bytes = range.size;
  return CUDA_SUCCESS;
}
