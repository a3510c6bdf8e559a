// SPDX-License-Identifier: Apache-2.0
//
// cudaMemset and its kin.
#include <cuda_runtime_api.h>

#include "simulator/core/copies.h"
#include "simulator/core/errors.h"
#include "simulator/core/export.h"

using namespace memtrace::simulator;

namespace {

strided_fill bytes_of(void* to, int value, std::size_t width) {
  strided_fill one;
  one.to = to;
  one.value = static_cast<unsigned char>(value);
  one.width = width;
  return one;
}

cudaError_t fill_rows(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                      cudaStream_t stream, bool waits) {
  if (height > 1 && width > pitch) return cudaErrorInvalidValue;
  strided_fill one = bytes_of(to, value, width);
  one.height = height;
  one.pitch = pitch;
  return copies::run(one, streams::find(stream), waits);
}

cudaError_t fill_box(const cudaPitchedPtr& to, int value, const cudaExtent& extent,
                     cudaStream_t stream, bool waits) {
  strided_fill one = bytes_of(to.ptr, value, extent.width);
  one.height = extent.height;
  one.depth = extent.depth;
  one.pitch = to.pitch;
  one.slice = to.pitch * to.ysize;
  return copies::run(one, streams::find(stream), waits);
}

}  // namespace

MEMTRACE_API cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return remember(copies::run(bytes_of(to, value, bytes), streams::find(nullptr), true));
}

MEMTRACE_API cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes,
                                         cudaStream_t stream) {
  return remember(copies::run(bytes_of(to, value, bytes), streams::find(stream), false));
}

MEMTRACE_API cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                                      std::size_t height) {
  return remember(fill_rows(to, pitch, value, width, height, nullptr, true));
}

MEMTRACE_API cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value,
                                           std::size_t width, std::size_t height,
                                           cudaStream_t stream) {
  return remember(fill_rows(to, pitch, value, width, height, stream, false));
}

MEMTRACE_API cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return remember(fill_box(to, value, extent, nullptr, true));
}

MEMTRACE_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                                           cudaStream_t stream) {
  return remember(fill_box(to, value, extent, stream, false));
}
