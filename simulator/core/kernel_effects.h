// SPDX-License-Identifier: Apache-2.0
//
// The effect of a launch on the contents of device memory, where the kernel's name and arguments
// say it: most of PyTorch's kernels only make what they write unknown; fills, comparisons, and bit
// and truth operations on at most 8192 elements are computed, so that loops that wait for a flag on
// the device end. Inputs that are unknown count as zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/core/device_memory.h"
#include "simulator/core/kernel_names.h"

namespace memtrace::simulator::kernel_effects {

// A part of what torch.cat copies.
struct piece {
  address_t to;
  address_t from;
  std::size_t bytes;
};

// A launch's arguments, read at the launch; can be run later, any number of times.
struct bound {
  const kernel_names::description* about = nullptr;  // null: nothing is known of the kernel
  static constexpr std::size_t most_outputs = 8;
  address_t out[most_outputs] = {};
  std::size_t outputs = 0;
  std::size_t out_bytes = 1;               // that each output takes at least
  address_t mentioned[most_outputs] = {};  // perhaps written, perhaps read
  std::size_t mentions = 0;
  bool computes = false;  // what follows is set
  address_t in[2] = {};
  std::size_t inputs = 0;
  std::size_t count = 0;  // elements
  kernel_names::element in_type[2];
  kernel_names::element out_type;
  unsigned char scalar[8] = {};
  std::vector<piece> pieces;  // of a concatenation
  int which = 0;
};

// `function` and `arguments` as given to cudaLaunchKernel.
[[nodiscard]] bound bind(const void* function, void** arguments);

void run(const bound& launch);

}  // namespace memtrace::simulator::kernel_effects

// Computes the few operations that are computed, on what is known of device memory.
namespace memtrace::simulator::small_tensors {

// False if a type does not allow it; nothing has changed then.
[[nodiscard]] bool compute(const kernel_effects::bound& launch);

}  // namespace memtrace::simulator::small_tensors
