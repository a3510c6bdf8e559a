// SPDX-License-Identifier: Apache-2.0
//
// CUDA arrays of the runtime API.
#include <cuda_runtime_api.h>

#include "simulator/core/arrays.h"
#include "simulator/core/device.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"

using namespace memtrace::simulator;

namespace {

cudaError_t create(cudaArray_t* result, const cudaChannelFormatDesc* format, cudaExtent extent,
                   unsigned flags, unsigned levels = 1) {
  if (!result || !format || levels == 0) return remember(cudaErrorInvalidValue);
  return remember(arrays::create({*format, extent, flags, levels}, *result));
}

cudaError_t requirements(cudaArrayMemoryRequirements* result, cudaArray_t array, int device) {
  arrays::array found{};
  if (!result) return remember(cudaErrorInvalidValue);
  if (!valid_device(device)) return remember(cudaErrorInvalidDevice);
  const cudaError_t error = arrays::describe(array, found);
  if (error != cudaSuccess) return remember(error);
  // As documented, only for arrays whose memory is not there yet.
  if ((found.flags & cudaArrayDeferredMapping) == 0) return remember(cudaErrorInvalidValue);
  *result = {};
  result->size = arrays::bytes_of(found);
  result->alignment = arrays::alignment;
  return cudaSuccess;
}

cudaArray_t whole(cudaMipmappedArray_t array) {
  return reinterpret_cast<cudaArray_t>(array);
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

MEMTRACE_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* result,
                                                  const cudaChannelFormatDesc* format,
                                                  cudaExtent extent, unsigned levels,
                                                  unsigned flags) {
  return create(reinterpret_cast<cudaArray_t*>(result), format, extent, flags, levels);
}

MEMTRACE_API cudaError_t cudaFreeArray(cudaArray_t array) {
  return remember(arrays::destroy(array));
}

MEMTRACE_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return remember(arrays::destroy(whole(array)));
}

MEMTRACE_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* result,
                                                    cudaMipmappedArray_const_t array,
                                                    unsigned level) {
  if (!result) return remember(cudaErrorInvalidValue);
  return remember(arrays::level(whole(const_cast<cudaMipmappedArray_t>(array)), level, *result));
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

MEMTRACE_API cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* result,
                                                        cudaArray_t array, int device) {
  return requirements(result, array, device);
}

MEMTRACE_API cudaError_t cudaMipmappedArrayGetMemoryRequirements(
    cudaArrayMemoryRequirements* result, cudaMipmappedArray_t array, int device) {
  return requirements(result, whole(array), device);
}
