// SPDX-License-Identifier: Apache-2.0
//
// CUDA arrays, in the runtime and the driver API.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simulator/core/arrays.h"
#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"

using namespace memtrace::simulator;

namespace {

std::size_t bytes_of(const cudaChannelFormatDesc& format) {
  return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
}

cudaError_t create(cudaArray_t* result, const cudaChannelFormatDesc* format, cudaExtent extent,
                   unsigned flags) {
  if (!result || !format) return remember(cudaErrorInvalidValue);
  return remember(arrays::create({*format, extent, flags}, bytes_of(*format), *result));
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

CUresult create(CUarray* result, const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  if (!current_context()) return CUDA_ERROR_INVALID_CONTEXT;
  const std::size_t element = bytes_of(shape.Format) * shape.NumChannels;
  const auto bits = static_cast<int>(bytes_of(shape.Format) * 8);
  const auto present = [&](unsigned channel) { return channel < shape.NumChannels ? bits : 0; };
  const bool floating = shape.Format == CU_AD_FORMAT_HALF || shape.Format == CU_AD_FORMAT_FLOAT;
  const cudaChannelFormatDesc format{
      present(0), present(1), present(2), present(3),
      floating ? cudaChannelFormatKindFloat : cudaChannelFormatKindUnsigned};
  cudaArray_t handle = nullptr;
  const cudaError_t error = arrays::create(
      {format, {shape.Width, shape.Height, shape.Depth}, shape.Flags}, element, handle);
  if (error == cudaSuccess) *result = reinterpret_cast<CUarray>(handle);
  return driver_result(error);
}

}  // namespace

MEMTRACE_API cudaError_t cudaMallocArray(cudaArray_t* result, const cudaChannelFormatDesc* format,
                                         std::size_t width, std::size_t height, unsigned flags) {
  return create(result, format, {width, height, 0}, flags);
}

MEMTRACE_API cudaError_t cudaMalloc3DArray(cudaArray_t* result, const cudaChannelFormatDesc* format,
                                           cudaExtent extent, unsigned flags) {
  return create(result, format, extent, flags);
}

MEMTRACE_API cudaError_t cudaFreeArray(cudaArray_t array) {
  return remember(arrays::destroy(array));
}

MEMTRACE_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent,
                                          unsigned* flags, cudaArray_t array) {
  arrays::array found{};
  if (const cudaError_t error = arrays::describe(array, found); error != cudaSuccess) {
    return remember(error);
  }
  if (format) *format = found.format;
  if (extent) *extent = found.extent;
  if (flags) *flags = found.flags;
  return cudaSuccess;
}

MEMTRACE_API CUresult cuArrayCreate(CUarray* result, const CUDA_ARRAY_DESCRIPTOR* shape) {
  if (!result || !shape) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR full{};
  full.Width = shape->Width;
  full.Height = shape->Height;
  full.Format = shape->Format;
  full.NumChannels = shape->NumChannels;
  return create(result, full);
}

MEMTRACE_API CUresult cuArray3DCreate(CUarray* result, const CUDA_ARRAY3D_DESCRIPTOR* shape) {
  if (!result || !shape) return CUDA_ERROR_INVALID_VALUE;
  return create(result, *shape);
}

MEMTRACE_API CUresult cuArrayDestroy(CUarray array) {
  return driver_result(arrays::destroy(reinterpret_cast<cudaArray_t>(array)));
}
