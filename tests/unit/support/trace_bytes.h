// SPDX-License-Identifier: Apache-2.0
//
// The encodings of trace_format.h, written anew for the tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "memtrace/trace_format.h"

namespace memtrace::test {

constexpr std::uint64_t operator""_KiB(unsigned long long n) {
  return n << 10;
}
constexpr std::uint64_t operator""_MiB(unsigned long long n) {
  return n << 20;
}
constexpr std::uint64_t operator""_GiB(unsigned long long n) {
  return n << 30;
}

using byte_vector = std::vector<unsigned char>;

inline void put_unsigned(byte_vector& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<unsigned char>(value | 0x80));
  out.push_back(static_cast<unsigned char>(value));
}
inline void put_signed(byte_vector& out, std::int64_t value) {
  const auto wide = static_cast<std::uint64_t>(value);
  put_unsigned(out, value < 0 ? ~(wide << 1) : wide << 1);
}
inline void put_text(byte_vector& out, std::string_view text) {
  put_unsigned(out, text.size());
  out.insert(out.end(), text.begin(), text.end());
}
template <class T>
void put_object(byte_vector& out, const T& object) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&object);
  out.insert(out.end(), bytes, bytes + sizeof(T));
}
template <class T>
void seal(T& head) {  // checksum of everything after the field
  constexpr auto covered = offsetof(T, header_checksum) + sizeof(head.header_checksum);
  head.header_checksum =
      format::fnv1a32(reinterpret_cast<const unsigned char*>(&head) + covered, sizeof(T) - covered);
}

// Fields of the records of meaning.
struct scope_numbers {
  std::uint64_t flags = 0;
  std::uint64_t module = 0;
  std::uint64_t root = 0;
  std::uint64_t forward = 0;   // stack; with format::scope_backward
  std::string_view node = {};  // the same
};
struct source_numbers {
  std::uint64_t flags = 0;
  std::uint64_t bytes = 0;  // 0: those of this part
  std::uint64_t offset = 0;
  std::uint64_t modified_ns = 0;
  std::string_view digest = {};
};
struct storage_words {
  std::uint64_t bytes = 0;
  std::string_view name = {};
  std::string_view detail = {};
  std::uint64_t object = 0;
  std::uint64_t flags = 0;
};
struct expected_object {
  std::uint64_t flags = 0;
  std::string_view owner = {};
  std::string_view file = {};
  std::uint64_t line = 0;
  std::string_view holder = {};
};
struct saved_numbers {
  std::uint64_t bytes = 0;
  std::uint64_t flags = 0;
  std::uint64_t scalar_type = 6;  // c10::ScalarType: float32
  std::uint64_t dimensions = 2;
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
};

struct test_frame {
  std::string file;
  std::uint64_t line;
  std::string function;
};

}  // namespace memtrace::test
