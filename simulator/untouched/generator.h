// SPDX-License-Identifier: Apache-2.0
//
// The random numbers of PyTorch on the CPU.
#pragma once

#include <cstdint>

#include "simulator/untouched/tensor.h"

namespace memtrace::simulator::untouched {

// at::native::normal_ and uniform_ as the ABI has them: the tensor, two numbers, and the place of a
// std::optional<at::Generator>. The tensor comes back.
using random_fill = void*(void*, double, double, const void*);

// Of one such function: how many numbers of 32 bits it draws for so many elements.
using draws_for = std::uint64_t(std::int64_t elements, scalar_type type);

// Whether `real` draws as `draws` says, for tensors of this type. Tried out once for each.
[[nodiscard]] bool can_skip(random_fill* real, draws_for* draws, scalar_type type) noexcept;

// Moves a generator on as if such a tensor had been filled. False, and nothing is done, where it is
// none of the CPU's. After can_skip.
[[nodiscard]] bool skip_fill(draws_for* draws, const host_tensor& filled,
                             const void* generator) noexcept;

}  // namespace memtrace::simulator::untouched
