// SPDX-License-Identifier: Apache-2.0
//
// The GPU calls that the tests need, as CUDA programs write it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "tests/unit/catch.h"

namespace memtrace::simulated_gpu {

// Stands for a kernel: only its address counts.
inline void some_kernel() {}

[[nodiscard]] inline cudaError_t launch_shape(cudaStream_t stream, unsigned grid, unsigned block) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(&some_kernel), {grid, 1, 1}, {block, 1, 1},
                          nullptr, 0, stream);
}

struct stream {
  explicit stream(unsigned flags = cudaStreamNonBlocking) {
    REQUIRE(cudaStreamCreateWithFlags(&handle, flags) == cudaSuccess);
  }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() { (void)cudaStreamDestroy(handle); }

  void launch() const { REQUIRE(launch_shape(handle, 1, 32) == cudaSuccess); }

  cudaStream_t handle = nullptr;
};

struct event {
  explicit event(unsigned flags = cudaEventDefault) {
    REQUIRE(cudaEventCreateWithFlags(&handle, flags) == cudaSuccess);
  }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { (void)cudaEventDestroy(handle); }

  cudaEvent_t handle = nullptr;
};

struct device_buffer {
  explicit device_buffer(std::size_t bytes) { REQUIRE(cudaMalloc(&address, bytes) == cudaSuccess); }
  device_buffer(const device_buffer&) = delete;
  device_buffer& operator=(const device_buffer&) = delete;
  ~device_buffer() { (void)cudaFree(address); }

  [[nodiscard]] char* at(std::size_t offset) const { return static_cast<char*>(address) + offset; }

  void* address = nullptr;
};

}  // namespace memtrace::simulated_gpu
