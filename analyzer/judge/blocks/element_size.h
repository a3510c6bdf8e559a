// SPDX-License-Identifier: Apache-2.0
//
// How many bits an element has, by the ways in which PyTorch names its type.
#pragma once

#include <cstdint>
#include <string_view>

namespace memtrace::blocks {

// c10::ScalarType, as in c10/core/ScalarType.h; 0: not known.
[[nodiscard]] std::uint8_t bits_of_scalar_type(std::uint32_t type);
// "torch.float32"; 0: not known.
[[nodiscard]] std::uint8_t bits_of_dtype(std::string_view name);

}  // namespace memtrace::blocks
