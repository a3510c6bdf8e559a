// SPDX-License-Identifier: Apache-2.0
//
// Reductions of the payloads of several ranks, element by element, in the order of the ranks.
#pragma once

#include <cstddef>
#include <span>

namespace memtrace::simulator::nccl {

// ncclRedOp_t; numbers from 5 on are the program's own (ncclRedOpCreatePreMulSum).
enum reduction : int { sum = 0, product = 1, maximum = 2, minimum = 3, average = 4 };

// Combines `from` into `into`, which are of the same size; `average` and the program's own add up,
// and `finish` divides. False for types without arithmetic here (8-bit floats).
[[nodiscard]] bool combine(std::span<std::byte> into, std::span<const std::byte> from, int type,
                           int operation);
void finish(std::span<std::byte> values, int type, int operation, int ranks);

// The 16-bit formats, for tests.
[[nodiscard]] float half_to_float(unsigned short bits);
[[nodiscard]] unsigned short float_to_half(float value);  // to nearest, ties to even

}  // namespace memtrace::simulator::nccl
