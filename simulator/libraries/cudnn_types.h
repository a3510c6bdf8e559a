// SPDX-License-Identifier: Apache-2.0
//
// cuDNN: result codes, data types and the objects behind its handles and older descriptors, as far
// as more than one file needs them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "simulator/core/device_memory.h"
#include "simulator/core/export.h"

namespace memtrace::simulator::cudnn {

enum status : int {
  success = 0,
  not_initialized = 1001,
  bad_param = 2000,
  null_pointer = 2002,
  not_finalized = 2004,
  wrong_attribute_type = 2010,
  not_supported = 3000,
  internal_error = 4000,
  device_allocation_failed = 4004,
  execution_failed = 5000,
};

inline constexpr int maximum_dimensions = 8;

// Bytes of an element of cudnnDataType_t; the 4-bit types count as one byte.
[[nodiscard]] constexpr std::size_t element_bytes(int data_type) {
  switch (data_type) {
    case 21:
      return 16;  // two doubles
    case 1:       // double
    case 10:      // 64-bit integer
    case 20:
      return 8;  // two floats
    case 0:      // float
    case 4:      // 32-bit integer
    case 5:      // four bytes
    case 7:
    case 19:
      return 4;
    case 2:  // half
    case 9:
      return 2;  // bfloat16
    case 8:
      return 32;  // 32 bytes
    default:
      return 1;
  }
}

struct handle {
  int device;
  cudaStream_t stream;
  address_t memory;  // its own
};

struct tensor_descriptor {
  int data_type;
  int dimensions;
  int sizes[maximum_dimensions];
  int strides[maximum_dimensions];
};

// Bytes from the first to the last element.
[[nodiscard]] std::size_t extent(const tensor_descriptor& tensor);

struct dropout_descriptor {
  float probability;
  void* states;
  std::uint64_t seed;
};

// One kernel, or several, on the handle's stream.
[[nodiscard]] status compute(const handle* handle, unsigned kernels = 1);

template <typename Object>
int create(Object** to) {
  if (to == nullptr) return null_pointer;
  *to = new Object{};
  return success;
}

template <typename Object>
int destroy(Object* object) {
  delete object;
  return success;
}

}  // namespace memtrace::simulator::cudnn
