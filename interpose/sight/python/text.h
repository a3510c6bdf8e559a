// SPDX-License-Identifier: Apache-2.0
//
// Reads a Python str as UTF-8 without calling CPython. ASCII is viewed in place; other texts are
// converted into an arena. Undecodable bytes of a file name (PEP 383) come out as the bytes that
// they were.
#pragma once

#include <array>
#include <string_view>

#include "interpose/sight/python/interpreter.h"

namespace memtrace::python_stack {

class text_arena {
 public:
  void clear() noexcept { used_ = 0; }
  // False, and nothing kept, when it is full.
  [[nodiscard]] bool put(char byte) noexcept {
    if (used_ == bytes_.size()) return false;
    bytes_[used_++] = byte;
    return true;
  }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  [[nodiscard]] std::string_view since(std::size_t start) const noexcept {
    return {bytes_.data() + start, used_ - start};
  }

 private:
  std::array<char, 32 << 10> bytes_;
  std::size_t used_ = 0;
};

// True for a str, or an object of a class derived from it. `object` is an object's address.
[[nodiscard]] bool is_text(const interpreter& python, address object) noexcept;

// For an object for which is_text() holds. Cut where the arena is full. Valid while both the
// object and the arena's content are.
[[nodiscard]] std::string_view read_text(const layout& offsets, address object,
                                         text_arena& arena) noexcept;

}  // namespace memtrace::python_stack
