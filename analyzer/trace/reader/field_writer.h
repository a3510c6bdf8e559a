// SPDX-License-Identifier: Apache-2.0
//
// Writes the fields of a record (memtrace/records.h), as field_reader reads them.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/trace/reader/records.h"

namespace memtrace::trace {

class field_writer {
 public:
  using name = std::string_view;

  // `address` is the previous one of the section.
  field_writer(std::vector<unsigned char>& to, std::uint64_t& address, unsigned flags)
      : to_(to), address_(address), flags_(flags) {}

  [[nodiscard]] bool has(unsigned flag) const { return (flags_ & flag) != 0; }

  template <class T>
  void number(name, record::kept_number, const T& value) {
    if constexpr (std::same_as<T, double>) {
      put(std::bit_cast<std::uint64_t>(value));
    } else {
      put(static_cast<std::uint64_t>(value));
    }
  }
  void signed_number(name, record::kept_number, std::int64_t value) { put_signed(value); }
  void address(name, record::kept_number, std::uint64_t value) {
    put_signed(static_cast<std::int64_t>(value - address_));
    address_ = value;
  }
  void near_address(name, record::kept_number, std::uint64_t value) {
    put_signed(static_cast<std::int64_t>(value - address_));
  }
  void pool(name, record::kept_number, const pool_id& value) {
    put(value.first);
    put(value.second);
  }
  void flag(name, unsigned /*flag*/, bool /*value*/) {}
  void string(name, record::string_privacy, std::string_view value) {
    put(value.size());
    to_.insert(to_.end(), value.begin(), value.end());
  }
  void text(name, record::text_privacy, text_id value) { put(value.value); }
  template <class Id>
  void id(name, record::kept_number, Id value) {
    put(value.value);
  }

  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) to_.push_back(static_cast<unsigned char>(value | 0x80));
    to_.push_back(static_cast<unsigned char>(value));
  }

 private:
  void put_signed(std::int64_t value) {
    put((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }

  std::vector<unsigned char>& to_;
  std::uint64_t& address_;
  unsigned flags_;
};

}  // namespace memtrace::trace
