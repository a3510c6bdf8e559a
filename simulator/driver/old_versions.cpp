// SPDX-License-Identifier: Apache-2.0
//
// The first versions of functions whose device addresses had 32 bits. As documented with
// CUDA_ERROR_INVALID_CONTEXT, they work in contexts of the API that they belong to, which the first
// cuCtxCreate makes, and in no other.
#include <cuda.h>

#include <cstdint>
#include <limits>

#include "simulator/core/arrays.h"
#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"
#include "simulator/core/device_reset.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/core/memory_calls.h"
#include "simulator/driver/driver_arrays.h"

// The header's names stand for the current versions.
#undef cuArray3DCreate
#undef cuArray3DGetDescriptor
#undef cuArrayCreate
#undef cuArrayGetDescriptor
#undef cuDeviceTotalMem
#undef cuMemAlloc
#undef cuMemAllocHost
#undef cuMemAllocPitch
#undef cuMemFree
#undef cuMemGetAddressRange
#undef cuMemGetInfo
#undef cuMemHostGetDevicePointer
#undef cuMemHostRegister

using namespace memtrace::simulator;

namespace {

using old_address = unsigned;

CUresult require_old_context() {
  return check_context(old_context);
}

unsigned clipped(std::size_t bytes) {
  constexpr std::size_t most = std::numeric_limits<unsigned>::max();
  return static_cast<unsigned>(bytes < most ? bytes : most);
}

struct old_array_descriptor {
  unsigned width;
  unsigned height;
  CUarray_format format;
  unsigned channels;
};

struct old_array3d_descriptor {
  unsigned width;
  unsigned height;
  unsigned depth;
  CUarray_format format;
  unsigned channels;
  unsigned flags;
};

CUresult create(CUarray* result, const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  if (const CUresult error = require_old_context(); error != CUDA_SUCCESS) return error;
  return driver_arrays::create(*result, shape);
}

}  // namespace

MEMTRACE_API CUresult cuMemAlloc(old_address* result, unsigned bytes) {
  if (const CUresult error = require_old_context(); error != CUDA_SUCCESS) return error;
  if (!result || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  address_t address = 0;
  const cudaError_t error = memory_calls::allocate(bytes, address);
  if (error == cudaSuccess) *result = static_cast<old_address>(address);
  return driver_result(error);
}

MEMTRACE_API CUresult cuMemAllocPitch(old_address* result, unsigned* pitch, unsigned width,
                                      unsigned height, unsigned element) {
  if (const CUresult error = require_old_context(); error != CUDA_SUCCESS) return error;
  const bool known = element == 4 || element == 8 || element == 16;
  if (!result || !pitch || width == 0 || height == 0 || !known) return CUDA_ERROR_INVALID_VALUE;
  address_t address = 0;
  std::size_t bytes = 0;
  const cudaError_t error = memory_calls::allocate_pitched(width, height, address, bytes);
  if (error != cudaSuccess) return driver_result(error);
  *result = static_cast<old_address>(address);
  *pitch = static_cast<unsigned>(bytes);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuMemFree(old_address address) {
  if (const CUresult error = require_old_context(); error != CUDA_SUCCESS) return error;
  return driver_result(memory_calls::free(address));
}

MEMTRACE_API CUresult cuMemAllocHost(void** result, unsigned bytes) {
  if (const CUresult error = require_old_context(); error != CUDA_SUCCESS) return error;
  if (!result || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  void* pointer = nullptr;
  const cudaError_t error = memory_calls::allocate_host(bytes, 0, pointer);
  if (error == cudaSuccess) *result = pointer;
  return driver_result(error);
}

// Makes the same contexts as its second version, which only takes more flags.
MEMTRACE_API CUresult cuMemHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return cuMemHostRegister_v2(pointer, bytes, flags);
}

MEMTRACE_API CUresult cuMemHostGetDevicePointer(old_address* result, void* pointer,
                                                unsigned flags) {
  if (const CUresult error = require_old_context(); error != CUDA_SUCCESS) return error;
  const bool fits = reinterpret_cast<std::uintptr_t>(pointer) >> 32 == 0;
  if (!result || flags != 0 || !fits) return CUDA_ERROR_INVALID_VALUE;
  *result = static_cast<old_address>(reinterpret_cast<std::uintptr_t>(pointer));
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuMemGetInfo(unsigned* free, unsigned* total) {
  if (const CUresult error = require_old_context(); error != CUDA_SUCCESS) return error;
  if (!free || !total) return CUDA_ERROR_INVALID_VALUE;
  *free = clipped(free_bytes(current_device()));
  *total = clipped(total_bytes(current_device()));
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuMemGetAddressRange(old_address* base, unsigned* bytes,
                                           old_address address) {
  if (const CUresult error = require_old_context(); error != CUDA_SUCCESS) return error;
  const memory_range range = find(address_t{address});
  if (range.kind == memory_kind::unknown) return CUDA_ERROR_NOT_FOUND;
  if (base) *base = static_cast<old_address>(range.base);
  if (bytes) *bytes = static_cast<unsigned>(range.size);
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuDeviceTotalMem(unsigned* bytes, CUdevice device) {
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = clipped(total_bytes(device));
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuArrayCreate(CUarray* result, const old_array_descriptor* shape) {
  if (!result || !shape) return CUDA_ERROR_INVALID_VALUE;
  return create(result, {shape->width, shape->height, 0, shape->format, shape->channels, 0});
}

MEMTRACE_API CUresult cuArray3DCreate(CUarray* result, const old_array3d_descriptor* shape) {
  if (!result || !shape) return CUDA_ERROR_INVALID_VALUE;
  return create(result, {shape->width, shape->height, shape->depth, shape->format, shape->channels,
                         shape->flags});
}

MEMTRACE_API CUresult cuArrayGetDescriptor(old_array_descriptor* result, CUarray array) {
  if (const CUresult error = require_old_context(); error != CUDA_SUCCESS) return error;
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  const CUresult error = driver_arrays::describe(shape, array);
  if (error != CUDA_SUCCESS || !result) return error ? error : CUDA_ERROR_INVALID_VALUE;
  *result = {clipped(shape.Width), clipped(shape.Height), shape.Format, shape.NumChannels};
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuArray3DGetDescriptor(old_array3d_descriptor* result, CUarray array) {
  if (const CUresult error = require_old_context(); error != CUDA_SUCCESS) return error;
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  const CUresult error = driver_arrays::describe(shape, array);
  if (error != CUDA_SUCCESS || !result) return error ? error : CUDA_ERROR_INVALID_VALUE;
  *result = {clipped(shape.Width), clipped(shape.Height), clipped(shape.Depth),
             shape.Format,         shape.NumChannels,     shape.Flags};
  return CUDA_SUCCESS;
}
