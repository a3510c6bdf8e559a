// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/blocks/element_size.h"

#include <array>
#include <utility>

namespace memtrace::blocks {

std::uint8_t bits_of_scalar_type(std::uint32_t type) {
  // Numbers 0 (Byte) to 29 (UInt64); quantized and bit types below a byte are left out.
  constexpr std::array<std::uint8_t, 30> bits = {8,   8, 16, 32, 64, 16, 32, 64, 32, 64,
                                                 128, 8, 8,  8,  32, 16, 0,  0,  0,  0,
                                                 0,   8, 16, 8,  8,  8,  8,  16, 32, 64};
  return type < bits.size() ? bits[type] : std::uint8_t{0};
}

std::uint8_t bits_of_dtype(std::string_view name) {
  constexpr std::string_view prefix = "torch.";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  constexpr std::array<std::pair<std::string_view, std::uint8_t>, 10> known = {{
      {"float32", std::uint8_t{32}},
      {"bfloat16", std::uint8_t{16}},
      {"float16", std::uint8_t{16}},
      {"float64", std::uint8_t{64}},
      {"int64", std::uint8_t{64}},
      {"int32", std::uint8_t{32}},
      {"int8", std::uint8_t{8}},
      {"uint8", std::uint8_t{8}},
      {"bool", std::uint8_t{8}},
      {"complex64", std::uint8_t{64}},
  }};
  for (const auto& [dtype, bits] : known) {
    if (name == dtype) return bits;
  }
  return name.starts_with("float8_") ? std::uint8_t{8} : std::uint8_t{0};
}

}  // namespace memtrace::blocks
