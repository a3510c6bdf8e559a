// SPDX-License-Identifier: Apache-2.0
//
// Python's objects as the agent reads them. All need the GIL, and leave no Python error set.
#pragma once

#include <cstddef>
#include <string_view>

#include "interpose/sight/python/python_api.h"

namespace memtrace::python_stack {

// The functions, once they have been found: find_python_functions().
[[nodiscard]] const python_api& python_functions() noexcept;
[[nodiscard]] bool find_python_functions() noexcept;

// "" for what is no str; holds as long as the object.
[[nodiscard]] std::string_view text_of(py object);

// A name that is looked up again and again.
[[nodiscard]] py interned(const char* name);

// Bits of tp_flags: list, tuple, dict, str or a subclass of one.
[[nodiscard]] bool is_list(py object) noexcept;
[[nodiscard]] bool is_tuple(py object) noexcept;
[[nodiscard]] bool is_dict(py object) noexcept;
[[nodiscard]] bool is_text(py object) noexcept;

[[nodiscard]] py none();  // a new reference

// Calls `item(object)` for each item of a list or tuple, which may change meanwhile.
template <typename Function>
void for_each_item(py sequence, Function item) {
  const python_api& api = python_functions();
  const bool list = is_list(sequence);
  if (!list && !is_tuple(sequence)) return;
  for (std::ptrdiff_t i = 0;; ++i) {
    const std::ptrdiff_t size = list ? api.list_size(sequence) : api.tuple_size(sequence);
    if (i >= size) return;
    const py borrowed = list ? api.list_item(sequence, i) : api.tuple_item(sequence, i);
    api.inc_ref(borrowed);
    const reference owned(api, borrowed);
    item(borrowed);
  }
}

// The same for a function that runs nothing of Python's, until it returns false; false then.
template <typename Function>
[[nodiscard]] bool each_item_of(py sequence, Function item) {
  const python_api& api = python_functions();
  const bool list = is_list(sequence);
  if (!list && !is_tuple(sequence)) return true;
  const std::ptrdiff_t size = list ? api.list_size(sequence) : api.tuple_size(sequence);
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    if (!item(list ? api.list_item(sequence, i) : api.tuple_item(sequence, i))) return false;
  }
  return true;
}

}  // namespace memtrace::python_stack
