// SPDX-License-Identifier: Apache-2.0
//
// CUDA arrays: opaque device memory with a handle. How a driver lays them out is not documented;
// here they cost their elements, rounded as cudaMalloc rounds.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace memtrace::simulator::arrays {

struct array {
  cudaChannelFormatDesc format;
  cudaExtent extent;  // elements; height and depth 0 where there are none
  unsigned flags;
};

// Errors: 1 nothing to allocate, 2 does not fit, those of ensure_context.
[[nodiscard]] cudaError_t create(const array& description, std::size_t element_bytes,
                                 cudaArray_t& handle);
// Error 400: no such array. Null is success.
[[nodiscard]] cudaError_t destroy(cudaArray_t handle);
[[nodiscard]] cudaError_t describe(cudaArray_t handle, array& description);

}  // namespace memtrace::simulator::arrays
