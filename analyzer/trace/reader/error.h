// SPDX-License-Identifier: Apache-2.0
//
// The errors that a trace can have: a code for programs, the offset in the file, and one sentence
// for people that names the remedy. The sentence does not contain the file's name; whoever knows
// the name puts it in front.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "analyzer/base/text/enum_name.h"

namespace memtrace::trace {

enum class error_code : std::uint8_t {
  not_found,
  permission_denied,
  is_directory,
  io_error,
  empty_file,
  not_a_trace,
  wrong_version,
  truncated_header,
  corrupt_header,
  corrupt_block,   // a block's header or one of its zstd frames
  corrupt_slot,    // a slot's header
  corrupt_record,  // a record that cannot have been written
  too_many_definitions,
  not_a_snapshot,    // some other pickle, or what people take for one
  corrupt_snapshot,  // a pickle that is cut off or damaged
};

// The code's name, for logs and tests.
[[nodiscard]] constexpr std::string_view name_of(error_code code) {
  return text::enum_name(code);
}

struct error {
  error_code code = error_code::io_error;
  std::uint64_t offset = 0;  // bytes from the start of the file
  std::string message;       // one sentence, with the remedy
};

// A value or an error. `status` is the same without a value.
template <class T>
class result {
 public:
  result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  result(trace::error failure) : value_(std::move(failure)) {}  // NOLINT

  [[nodiscard]] explicit operator bool() const { return std::holds_alternative<T>(value_); }
  [[nodiscard]] T& operator*() { return std::get<T>(value_); }
  [[nodiscard]] T* operator->() { return &std::get<T>(value_); }
  [[nodiscard]] const trace::error& failure() const { return std::get<trace::error>(value_); }

 private:
  std::variant<T, trace::error> value_;
};

using status = std::optional<error>;  // empty: all is well

}  // namespace memtrace::trace
