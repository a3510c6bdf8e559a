// SPDX-License-Identifier: Apache-2.0
//
// Writes protocol buffers' wire format: a message is a string of fields, each a key (number of the
// field, kind of what follows) and its value.
//
//   proto packet;
//   packet.number(8, time_ns);              // a varint
//   packet.message(11, proto().text(23, "step 3"));
//
// Fields that have their default value are written all the same: where that is not wanted, do not
// call.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace memtrace::exporting {

class proto {
 public:
  // For every integer type that is not zigzag; a negative number takes ten bytes.
  proto& number(unsigned field, std::uint64_t value) {
    key(field, 0);
    varint(value);
    return *this;
  }
  proto& integer(unsigned field, std::int64_t value) {
    return number(field, static_cast<std::uint64_t>(value));
  }
  proto& real(unsigned field, double value) {
    return fixed(field, std::bit_cast<std::uint64_t>(value));
  }
  proto& fixed(unsigned field, std::uint64_t value) {
    key(field, 1);
    for (unsigned i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> 8 * i & 0xff);
    return *this;
  }
  proto& text(unsigned field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  proto& message(unsigned field, const proto& value) { return text(field, value.bytes()); }
  // The value alone, for a packed field, whose values follow each other.
  proto& packed(std::uint64_t value) {
    varint(value);
    return *this;
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void key(unsigned field, unsigned wire_type) { varint(field << 3 | wire_type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace memtrace::exporting
