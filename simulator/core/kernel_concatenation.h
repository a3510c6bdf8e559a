// SPDX-License-Identifier: Apache-2.0
//
// torch.cat on small tensors: which bytes go where. Facts of PyTorch's CatArrayBatchedCopy kernels
// (ATen/native/cuda/Shape.cu): (out, sources, sizes and strides of out, int dimension, unsigned
// stride of that dimension in elements). The sources are arrays with a place for each: addresses,
// offsets along the dimension, sizes along it, elements, and whether each is contiguous.
#pragma once

#include <cstddef>
#include <vector>

#include "simulator/core/device_memory.h"
#include "simulator/core/kernel_names.h"

namespace memtrace::simulator::kernel_concatenation {

struct piece {
  address_t to;
  address_t from;
  std::size_t bytes;
};

// Nothing unless the tensors lie one after the other in the result: contiguous, along dimension 0.
[[nodiscard]] std::vector<piece> pieces(const kernel_names::description& kernel, void** arguments);

}  // namespace memtrace::simulator::kernel_concatenation
