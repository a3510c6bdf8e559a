// SPDX-License-Identifier: Apache-2.0
//
// Which pointer a program gets that asks for a CUDA function by name: the wrapper where hooks.def
// has one and it leads to the very function that was found, else what was found. What memtrace
// cannot follow is counted (unknown_names.h).
#pragma once

namespace memtrace {

// A name of hooks.def, or one that CUDA has only since a later release.
[[nodiscard]] bool is_of_interest(const char* name) noexcept;

// For a symbol that dlsym has found.
[[nodiscard]] void* instead_of_symbol(const char* name, void* found) noexcept;

// For what a library was bound to before this one was loaded: also PyTorch's own functions, and those
// that lead to the library that their caller was linked with.
[[nodiscard]] bool has_wrapper(const char* name) noexcept;
[[nodiscard]] void* instead_of_bound(const char* name, void* found) noexcept;

struct driver_query {
  const char* name;  // as cuGetProcAddress takes it: without version
  int version;       // of CUDA, 12040 is 12.4; 0: none was given
  bool per_thread_stream;
};

// For an answer of the driver.
[[nodiscard]] void* instead_of_entry_point(const driver_query& query, void* found) noexcept;

}  // namespace memtrace
