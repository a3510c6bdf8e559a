// SPDX-License-Identifier: Apache-2.0
//
// The attributes of an instance, read where they are: asking Python for `__dict__` would make a
// dictionary, which changes the object from 3.11 on.
#pragma once

#include "interpose/sight/heap_scan/python_types.h"

namespace memtrace::heap_scan {

// The instance's dictionary, or 0 where it has none (yet).
[[nodiscard]] address instance_dict(const python_objects& python, address object) noexcept;

namespace detail {
struct value_array {
  address values = 0;
  address names = 0;  // of pairs whose first word is the name
  std::size_t count = 0;
};
// Attributes that stand in an array beside the object, named by its class.
[[nodiscard]] value_array inline_values(const python_objects& python, address object) noexcept;
}  // namespace detail

// Calls each(name, value) until it returns false, for attributes that are in no dictionary.
template <typename Function>
void for_each_inline_value(const python_objects& python, address object, Function each) {
  const detail::value_array array = detail::inline_values(python, object);
  for (std::size_t i = 0; i < array.count; ++i) {
    const auto value = load<address>(array.values, i * sizeof(address));
    const auto name = load<address>(array.names, i * 2 * sizeof(address));
    if (value != 0 && name != 0 && !each(name, value)) return;
  }
}

// The attribute of this name that the instance itself has, or 0.
[[nodiscard]] address instance_value(const python_objects& python, address object,
                                     std::string_view name) noexcept;

// The name of the slot or C member that holds the value: "" if none does.
[[nodiscard]] std::string_view member_holding(address object, address value) noexcept;

}  // namespace memtrace::heap_scan
