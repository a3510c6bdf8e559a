// SPDX-License-Identifier: Apache-2.0
//
// The variables of a frame (arguments, other locals, cells), read where they are: `f_locals` would
// keep the values alive until the function ends.
#pragma once

#include "interpose/sight/heap_scan/python_types.h"

namespace memtrace::heap_scan {

struct read_frame {
  address frame = 0;  // its words, which from 3.11 on are no Python object; 0: gone
  address code = 0;
};

[[nodiscard]] read_frame frame_at(const python_objects& python, address frame) noexcept;
// That of a frame object, and of a suspended generator or coroutine.
[[nodiscard]] read_frame frame_of_object(const python_objects& python, address object) noexcept;
[[nodiscard]] read_frame frame_of_generator(const python_objects& python,
                                            address generator) noexcept;

namespace detail {
// Names in one tuple, of `count` variables that begin at number `first`.
struct named_range {
  address names = 0;
  std::size_t first = 0;
  std::size_t count = 0;
};
// All of them in the order in which they stand in the frame.
struct variable_ranges {
  named_range ranges[3];
};
[[nodiscard]] variable_ranges ranges_of(const python_objects& python, address code) noexcept;
}  // namespace detail

// Calls each(name, value) until it returns false; a value may be a cell.
template <typename Function>
void for_each_variable(const python_objects& python, const read_frame& from, Function each) {
  if (from.frame == 0) return;
  const address variables = from.frame + python.interpreter->offsets->frame_locals;
  for (const detail::named_range& range : detail::ranges_of(python, from.code).ranges) {
    for (std::size_t i = 0; i < range.count; ++i) {
      const address value =
          python_stack::load_reference(variables, (range.first + i) * sizeof(address));
      if (value == 0) continue;
      const auto name =
          load<address>(range.names, python.layout->tuple_items + i * sizeof(address));
      if (!each(name, value)) return;
    }
  }
}

// Names that a code object gives to what its function holds: free variables, and arguments with
// defaults. All are strs, or 0.

// Where in a tuple an object stands; -1: nowhere.
[[nodiscard]] std::ptrdiff_t number_of_item(const python_objects& python, address tuple,
                                            address item) noexcept;

// The free variable that the cell of this number in a function's closure is.
[[nodiscard]] address free_variable(const python_objects& python, address code,
                                    std::ptrdiff_t number) noexcept;

// The argument that has this default in the function's tuple of defaults.
[[nodiscard]] address argument_with_default(const python_objects& python, address code,
                                            address defaults, std::ptrdiff_t number) noexcept;

}  // namespace memtrace::heap_scan
