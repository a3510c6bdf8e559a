// SPDX-License-Identifier: Apache-2.0
//
// The attributes of a device. The properties of the runtime are filled from the same answers.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>

namespace memtrace::simulator {

// Limits that follow from the compute capability (CUDA C++ programming guide, table of technical
// specifications per compute capability).
struct capability_limits {
  int version;  // 10 × major + minor
  int threads_per_sm;
  int blocks_per_sm;
  int shared_kib_per_sm;
  int shared_kib_optin;  // per block
  int double_ratio;      // single to double precision performance
};
[[nodiscard]] const capability_limits& limits_of_model();

// Nothing for a number that is no attribute. Numbers are those of CUdevice_attribute.
[[nodiscard]] std::optional<int> device_attribute(int attribute, int device);

[[nodiscard]] cudaDeviceProp device_properties(int device);

// Blocks of `block` threads with `shared` bytes of dynamic shared memory that fit a multiprocessor,
// as far as threads, blocks and shared memory limit it; registers are taken to be few.
[[nodiscard]] int occupancy_blocks(int block, std::size_t shared);

}  // namespace memtrace::simulator
