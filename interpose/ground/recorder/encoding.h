// SPDX-License-Identifier: Apache-2.0
//
// The primitive encodings of the trace format (memtrace/trace_format.h): v, z and s. The caller
// has made sure of the room; each function returns the position behind what it wrote.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "memtrace/trace_format.h"

namespace memtrace::encoding {

inline constexpr std::uint32_t max_varint_bytes = 10;

[[nodiscard]] constexpr unsigned char make_tag(format::kind kind, unsigned flags) noexcept {
  return static_cast<unsigned char>(static_cast<unsigned>(kind) | flags << format::kind_bits);
}

[[nodiscard]] inline unsigned char* put_varint(unsigned char* at, std::uint64_t value) noexcept {
  while (value >= 0x80) {
    *at++ = static_cast<unsigned char>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<unsigned char>(value);
  return at;
}

// The difference of two unsigned numbers, as the signed number of smallest magnitude.
[[nodiscard]] constexpr std::uint64_t zigzag(std::uint64_t difference) noexcept {
  return difference << 1 ^ (0 - (difference >> 63));
}

[[nodiscard]] inline unsigned char* put_signed(unsigned char* at,
                                               std::uint64_t difference) noexcept {
  return put_varint(at, zigzag(difference));
}

// Longer texts are cut: the format promises readers a bound.
[[nodiscard]] constexpr std::string_view bounded(std::string_view text) noexcept {
  return text.substr(0, format::max_text_bytes);
}

[[nodiscard]] inline unsigned char* put_text(unsigned char* at, std::string_view text) noexcept {
  at = put_varint(at, text.size());
  // An empty text may have no address, which memcpy() forbids.
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

}  // namespace memtrace::encoding
