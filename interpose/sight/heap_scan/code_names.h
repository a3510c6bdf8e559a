// SPDX-License-Identifier: Apache-2.0
//
// Names that a code object gives to what its function holds: free variables, and arguments with
// defaults. All are strs, or 0.
#pragma once

#include "interpose/sight/heap_scan/python_types.h"

namespace memtrace::heap_scan {

// Where in a tuple an object stands; -1: nowhere.
[[nodiscard]] std::ptrdiff_t number_of_item(address tuple, address item) noexcept;

// The free variable that the cell of this number in a function's closure is.
[[nodiscard]] address free_variable(const python_objects& python, address code,
                                    std::ptrdiff_t number) noexcept;

// The argument that has this default in the function's tuple of defaults.
[[nodiscard]] address argument_with_default(const python_objects& python, address code,
                                            address defaults, std::ptrdiff_t number) noexcept;

}  // namespace memtrace::heap_scan
