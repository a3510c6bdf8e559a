// SPDX-License-Identifier: Apache-2.0
//
// The class of a C++ object of the traced program, from its type information.
#pragma once

#include <string_view>

namespace memtrace::autograd {

// Where an object's virtual functions are: one address for each class.
[[nodiscard]] inline const void* functions_of(const void* object) noexcept {
  return *static_cast<const void* const*>(object);
}

// The mangled name of the class with these virtual functions; "" where there is no information.
[[nodiscard]] std::string_view mangled_class(const void* functions) noexcept;

// The last part of a nested name: "N5torch8autograd9GraphRootE" is GraphRoot. What is not a nested
// name comes back whole.
[[nodiscard]] std::string_view last_part(std::string_view mangled) noexcept;

}  // namespace memtrace::autograd
