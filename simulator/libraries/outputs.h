// SPDX-License-Identifier: Apache-2.0
//
// Shared by the libraries: saying which memory a call writes, and running work on a
// stream.
#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>
#include <cstring>

#include "simulator/core/contents.h"
#include "simulator/core/device_memory.h"

namespace memtrace::simulator {

// A library call computed `bytes` bytes at `to`: zeros to whoever reads them. Host memory is
// written, device memory is noted.
inline void write_result(void* to, std::size_t bytes) {
  if (to == nullptr || bytes == 0) return;
  if (is_device_address(reinterpret_cast<address_t>(to))) {
    contents::computed(reinterpret_cast<address_t>(to), bytes);
  } else {
    std::memset(to, 0, bytes);
  }
}

// Like write_result for arrays, which are on the device: never touches host memory.
inline void note_written(const void* to, std::size_t bytes) {
  const auto address = reinterpret_cast<address_t>(to);
  if (bytes > 0 && is_device_address(address)) contents::computed(address, bytes);
}

// A solver's result codes of `matrices` matrices on the device: all well. They are read by the
// program, and may lie where something was uploaded before.
inline void report_solved(const void* codes, std::size_t matrices) {
  const auto address = reinterpret_cast<address_t>(codes);
  if (matrices > 0 && is_device_address(address)) contents::zero(address, matrices * sizeof(int));
}

// Bytes of an element, rounded up for the 4-bit types; 0 if unknown.
[[nodiscard]] constexpr std::size_t element_bytes(cudaDataType_t type) {
  switch (type) {
    case CUDA_C_64F:
      return 16;
    case CUDA_R_64F:
    case CUDA_C_32F:
    case CUDA_R_64I:
    case CUDA_R_64U:
      return 8;
    case CUDA_R_32F:
    case CUDA_R_32I:
    case CUDA_R_32U:
    case CUDA_C_16F:
    case CUDA_C_16BF:
      return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF:
    case CUDA_R_16I:
    case CUDA_R_16U:
      return 2;
    default:
      return 1;
  }
}

}  // namespace memtrace::simulator
