// SPDX-License-Identifier: Apache-2.0
//
// Reads the encodings of trace_format.h from a run of bytes, and never past its end: after the
// first impossible value ok() is false and everything reads as 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace memtrace::trace {

class cursor {
 public:
  explicit cursor(std::span<const unsigned char> bytes)
      : begin_(bytes.data()), next_(begin_), end_(begin_ + bytes.size()) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return next_ == end_; }
  [[nodiscard]] std::size_t position() const { return static_cast<std::size_t>(next_ - begin_); }

  [[nodiscard]] std::uint8_t byte() {
    if (next_ == end_) return fail();
    return *next_++;
  }

  // v: unsigned LEB128 of at most 64 bits.
  [[nodiscard]] std::uint64_t unsigned_number() {
    if (next_ != end_ && *next_ < 0x80) return *next_++;
    return long_number();
  }

  // z: zigzag, then v; the difference is taken modulo 2^64.
  [[nodiscard]] std::uint64_t signed_number() {
    const auto folded = unsigned_number();
    return (folded >> 1) ^ (~(folded & 1) + 1);
  }

  // s: a length, then bytes; refuses more than `most`.
  [[nodiscard]] std::string_view text(std::size_t most) {
    const auto size = unsigned_number();
    if (size > most || size > static_cast<std::size_t>(end_ - next_)) {
      (void)fail();
      return {};
    }
    const auto* start = reinterpret_cast<const char*>(next_);
    next_ += size;
    return {start, static_cast<std::size_t>(size)};
  }

 private:
  [[nodiscard]] std::uint64_t long_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && next_ != end_; shift += 7) {
      const std::uint64_t part = *next_++;
      if (shift == 63 && part > 1) break;
      value |= (part & 0x7f) << shift;
      if (part < 0x80) return value;
    }
    return fail();
  }

  [[nodiscard]] std::uint8_t fail() {
    ok_ = false;
    next_ = end_;
    return 0;
  }

  const unsigned char* begin_;
  const unsigned char* next_;
  const unsigned char* end_;
  bool ok_ = true;
};

}  // namespace memtrace::trace
