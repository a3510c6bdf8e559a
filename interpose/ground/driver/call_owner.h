// SPDX-License-Identifier: Apache-2.0
//
// Who asked for memory outside PyTorch's pool: the library that a call came from, by its return
// address. CUDA's own libraries, we ourselves and what only passes Python's calls on (ctypes) are
// looked through: then the frames further out say it.
#pragma once

#include <string_view>

namespace memtrace {

// Base name as loaded; "" is the program itself, Python's interpreter included. No data: PyTorch's
// caching allocator, or not known. Some ns for a library that called before.
[[nodiscard]] std::string_view owner_of(const void* caller) noexcept;

// Whether it came from the library of PyTorch's allocators.
[[nodiscard]] bool is_from_allocator(const void* caller) noexcept;

// Whether CUDA's runtime or driver itself made the call.
[[nodiscard]] bool is_from_cuda(const void* caller) noexcept;

}  // namespace memtrace
