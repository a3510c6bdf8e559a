// SPDX-License-Identifier: Apache-2.0
//
// CUDA arrays: opaque device memory with a handle. How a driver lays them out is not documented;
// here they cost their elements, those of all levels, rounded as cudaMalloc rounds.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace memtrace::simulator::arrays {

struct array {
  cudaChannelFormatDesc format;
  cudaExtent extent;  // elements; height and depth 0 where there are none
  unsigned flags;
  unsigned levels;  // of a mipmapped array; else 1
};

inline constexpr std::size_t alignment = 512;
[[nodiscard]] std::size_t bytes_of(const array& description);

// Errors: 1 nothing to allocate, 2 does not fit, those of ensure_context.
[[nodiscard]] cudaError_t create(const array& description, cudaArray_t& handle);
// Error 400: no such array. Null is success.
[[nodiscard]] cudaError_t destroy(cudaArray_t handle);
[[nodiscard]] cudaError_t describe(cudaArray_t handle, array& description);

// A level as an array, which lives as long as the whole. Errors: 400; 1 no such level.
[[nodiscard]] cudaError_t level(cudaArray_t handle, unsigned which, cudaArray_t& result);

}  // namespace memtrace::simulator::arrays
