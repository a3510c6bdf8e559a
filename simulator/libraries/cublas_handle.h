// SPDX-License-Identifier: Apache-2.0
//
// A cuBLAS handle. Every cublasCreate makes another one: PyTorch keeps a workspace for each pair of
// handle and stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "simulator/core/device_memory.h"

namespace memtrace::simulator::cublas {

enum status : int {
  success = 0,
  not_initialized = 1,
  alloc_failed = 3,
  invalid_value = 7,
  execution_failed = 13,
  internal_error = 14,
  not_supported = 15,
};

enum pointer_mode : int { host_pointers = 0, device_pointers = 1 };

struct handle {
  std::uint32_t alive;  // handle_alive until destroyed
  int device;
  cudaStream_t stream;
  void* workspace;
  std::size_t workspace_bytes;
  int pointers;
  int math_mode;
  int atomics_mode;
  int multiprocessors;  // cublasSetSmCountTarget
  address_t memory;     // its own
};
inline constexpr std::uint32_t handle_alive = 0x63754231;

// 130100 and the like, as the wheels pinned by torch have it.
inline constexpr int version = CUDART_VERSION >= 13000 ? 130100 : 120405;

[[nodiscard]] inline bool valid(const handle* handle) {
  return handle != nullptr && handle->alive == handle_alive;
}

// One kernel on the handle's stream.
[[nodiscard]] status compute(const handle* handle, unsigned kernels = 1);

[[nodiscard]] const char* status_name(int status);
[[nodiscard]] const char* status_text(int status);

}  // namespace memtrace::simulator::cublas
