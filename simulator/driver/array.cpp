// SPDX-License-Identifier: Apache-2.0
//
// CUDA arrays of the driver API. The header's names stand for their current versions.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simulator/core/arrays.h"
#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"
#include "simulator/driver/driver_arrays.h"

using namespace memtrace::simulator;

namespace {

cudaArray_t same(CUarray array) {
  return reinterpret_cast<cudaArray_t>(array);
}

std::size_t bytes_of(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    default:
      return 4;
  }
}

arrays::array described(const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned levels) {
  const auto bits = static_cast<int>(bytes_of(shape.Format) * 8);
  const auto present = [&](unsigned channel) { return channel < shape.NumChannels ? bits : 0; };
  const bool floating = shape.Format == CU_AD_FORMAT_HALF || shape.Format == CU_AD_FORMAT_FLOAT;
  const bool is_signed = shape.Format >= CU_AD_FORMAT_SIGNED_INT8 && !floating;
  const auto kind = floating    ? cudaChannelFormatKindFloat
                    : is_signed ? cudaChannelFormatKindSigned
                                : cudaChannelFormatKindUnsigned;
  return {{present(0), present(1), present(2), present(3), kind},
          {shape.Width, shape.Height, shape.Depth},
          shape.Flags,
          levels};
}

CUresult create(CUarray& result, const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned levels) {
  const bool valid = shape.NumChannels == 1 || shape.NumChannels == 2 || shape.NumChannels == 4;
  if (!valid) return CUDA_ERROR_INVALID_VALUE;
  cudaArray_t handle = nullptr;
  const cudaError_t error = arrays::create(described(shape, levels), handle);
  if (error == cudaSuccess) result = reinterpret_cast<CUarray>(handle);
  return driver_result(error);
}

CUarray_format format_of(const cudaChannelFormatDesc& format) {
  switch (format.f) {
    case cudaChannelFormatKindFloat:
      return format.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    case cudaChannelFormatKindSigned:
      return format.x == 8    ? CU_AD_FORMAT_SIGNED_INT8
             : format.x == 16 ? CU_AD_FORMAT_SIGNED_INT16
                              : CU_AD_FORMAT_SIGNED_INT32;
    default:
      return format.x == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
             : format.x == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
                              : CU_AD_FORMAT_UNSIGNED_INT32;
  }
}

CUresult requirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* result, CUarray array, CUdevice device) {
  arrays::array found{};
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const cudaError_t error = arrays::describe(same(array), found);
  if (error != cudaSuccess) return driver_result(error);
  // As documented, only for arrays whose memory is not there yet.
  if ((found.flags & cudaArrayDeferredMapping) == 0) return CUDA_ERROR_INVALID_VALUE;
  *result = {};
  result->size = arrays::bytes_of(found);
  result->alignment = arrays::alignment;
  return CUDA_SUCCESS;
}

}  // namespace

namespace memtrace::simulator::driver_arrays {

CUresult create(CUarray& result, const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  return ::create(result, shape, 1);
}

CUresult describe(CUDA_ARRAY3D_DESCRIPTOR& result, CUarray array) {
  arrays::array found{};
  const cudaError_t error = arrays::describe(same(array), found);
  if (error != cudaSuccess) return driver_result(error);
  const cudaChannelFormatDesc& format = found.format;
  const unsigned channels = (format.x != 0) + (format.y != 0) + (format.z != 0) + (format.w != 0);
  result = {found.extent.width, found.extent.height, found.extent.depth, format_of(format),
            channels,           found.flags};
  return CUDA_SUCCESS;
}

}  // namespace memtrace::simulator::driver_arrays

MEMTRACE_API CUresult cuArrayCreate(CUarray* result, const CUDA_ARRAY_DESCRIPTOR* shape) {
  if (!result || !shape) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  return create(*result, {shape->Width, shape->Height, 0, shape->Format, shape->NumChannels, 0}, 1);
}

MEMTRACE_API CUresult cuArray3DCreate(CUarray* result, const CUDA_ARRAY3D_DESCRIPTOR* shape) {
  if (!result || !shape) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  return create(*result, *shape, 1);
}

MEMTRACE_API CUresult cuArrayDestroy(CUarray array) {
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  return driver_result(arrays::destroy(same(array)));
}

MEMTRACE_API CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* result, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  const CUresult error = driver_arrays::describe(shape, array);
  if (error != CUDA_SUCCESS) return error;
  *result = {shape.Width, shape.Height, shape.Format, shape.NumChannels};
  return CUDA_SUCCESS;
}

MEMTRACE_API CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* result, CUarray array) {
  return result ? driver_arrays::describe(*result, array) : CUDA_ERROR_INVALID_VALUE;
}

MEMTRACE_API CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* result,
                                                   CUarray array, CUdevice device) {
  return requirements(result, array, device);
}

MEMTRACE_API CUresult cuMipmappedArrayCreate(CUmipmappedArray* result,
                                             const CUDA_ARRAY3D_DESCRIPTOR* shape,
                                             unsigned levels) {
  if (!result || !shape || levels == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = check_context(); error != CUDA_SUCCESS) return error;
  return create(reinterpret_cast<CUarray&>(*result), *shape, levels);
}

MEMTRACE_API CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  return cuArrayDestroy(reinterpret_cast<CUarray>(array));
}

MEMTRACE_API CUresult cuMipmappedArrayGetLevel(CUarray* result, CUmipmappedArray array,
                                               unsigned level) {
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  cudaArray_t found = nullptr;
  const cudaError_t error = arrays::level(reinterpret_cast<cudaArray_t>(array), level, found);
  if (error == cudaSuccess) *result = reinterpret_cast<CUarray>(found);
  return driver_result(error);
}

MEMTRACE_API CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* result,
                                                            CUmipmappedArray array,
                                                            CUdevice device) {
  return requirements(result, reinterpret_cast<CUarray>(array), device);
}

// No simulated device has sparse arrays.
MEMTRACE_API CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* result, CUarray) {
  return result ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

MEMTRACE_API CUresult cuMemMapArrayAsync(CUarrayMapInfo* list, unsigned, CUstream) {
  return list ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

MEMTRACE_API CUresult cuMemMapArrayAsync_ptsz(CUarrayMapInfo* list, unsigned, CUstream) {
  return list ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}
