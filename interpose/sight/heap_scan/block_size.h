// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "interpose/sight/autograd/readable_memory.h"

namespace memtrace::heap_scan {

// How many bytes from here on belong to a C++ object that was made by `new` or std::make_shared, by
// what glibc's malloc says of its block; 0 where that cannot be told or read, and with another
// malloc.
[[nodiscard]] std::size_t bytes_from(const autograd::readable_memory& memory,
                                     const void* object) noexcept;

}  // namespace memtrace::heap_scan
