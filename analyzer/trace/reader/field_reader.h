// SPDX-License-Identifier: Apache-2.0
//
// Reads the fields of a record (memtrace/records.h). What names something must be defined: else,
// or if the bytes end before the record does, ok() is false.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "analyzer/trace/reader/cursor.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::trace {

// A number that is larger than its field can hold becomes the largest.
template <class T>
[[nodiscard]] constexpr T number_as(std::uint64_t number) {
  if constexpr (std::same_as<T, double>) {
    return std::bit_cast<double>(number);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(number_as<std::underlying_type_t<T>>(number));
  } else {
    return static_cast<T>(std::min<std::uint64_t>(number, std::numeric_limits<T>::max()));
  }
}

class field_reader {
 public:
  using name = std::string_view;

  // `address` is the previous one of the section.
  field_reader(cursor& from, const dictionary& names, std::uint64_t& address, unsigned flags)
      : from_(from), names_(names), address_(address), flags_(flags) {}

  [[nodiscard]] bool ok() const { return known_ && from_.ok(); }
  [[nodiscard]] bool has(unsigned flag) const { return (flags_ & flag) != 0; }

  template <class T>
  void number(name, record::kept_number, T& out) {
    out = number_as<T>(from_.unsigned_number());
  }
  void signed_number(name, record::kept_number, std::int64_t& out) {
    out = static_cast<std::int64_t>(from_.signed_number());
  }
  void address(name, record::kept_number, std::uint64_t& out) {
    out = address_ += from_.signed_number();
  }
  void near_address(name, record::kept_number, std::uint64_t& out) {
    out = address_ + from_.signed_number();
  }
  void pool(name, record::kept_number, pool_id& out) {
    out.first = from_.unsigned_number();
    out.second = from_.unsigned_number();
  }
  void flag(name, unsigned flag, bool& out) { out = has(flag); }
  void string(name, record::string_privacy, std::string_view& out) {
    out = from_.text(format::max_text_bytes);
  }
  void text(name, record::text_privacy, text_id& out) {
    const auto number = from_.unsigned_number();
    known_ = known_ && names_.knows_text(number);
    if (known_) out = names_.text_of(number);
  }
  void id(name, record::kept_number, stack_id& out) {
    const auto number = from_.unsigned_number();
    known_ = known_ && names_.knows_stack(number);
    if (known_) out = names_.stack_of(number);
  }
  void id(name, record::kept_number, frame_id& out) {
    const auto number = from_.unsigned_number();
    known_ = known_ && names_.knows_frame(number);
    if (known_) out = names_.frame_of(number);
  }
  void id(name, record::kept_number, thread_id& out) {
    id_of(out, [this](auto number) { return names_.knows_thread(number); });
  }
  void id(name, record::kept_number, object_id& out) {
    id_of(out, [this](auto number) { return names_.knows_object(number); });
  }

 private:
  template <class Id>
  void id_of(Id& out, const auto& knows) {
    const auto number = from_.unsigned_number();
    out.value = static_cast<std::uint32_t>(number);
    known_ = known_ && knows(number);
  }

  cursor& from_;
  const dictionary& names_;
  std::uint64_t& address_;
  unsigned flags_;
  bool known_ = true;
};

}  // namespace memtrace::trace
