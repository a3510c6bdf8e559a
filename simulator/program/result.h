// SPDX-License-Identifier: Apache-2.0
// A value, or one sentence that says what went wrong and what to do about it.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace memtrace::simulator {

struct failure {
  std::string sentence;
};

template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  result(failure why) : content_(std::in_place_index<1>, std::move(why)) {}

  [[nodiscard]] bool ok() const { return content_.index() == 0; }
  [[nodiscard]] const T& value() const { return std::get<0>(content_); }
  [[nodiscard]] T& value() { return std::get<0>(content_); }
  [[nodiscard]] const std::string& error() const { return std::get<1>(content_).sentence; }

 private:
  std::variant<T, failure> content_;
};

}  // namespace memtrace::simulator
