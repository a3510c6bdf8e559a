// SPDX-License-Identifier: Apache-2.0
//
// Libraries of the process as the dynamic linker knows them, found by base name: torch's are
// loaded RTLD_LOCAL, so the usual symbol search does not see them.
#pragma once

#include <cstdint>
#include <string>

namespace memtrace {

struct loaded_library {
  std::string path;
  std::uintptr_t base = 0;   // what is added to the addresses in the file
  std::uintptr_t begin = 0;  // of its mapped segments
  std::uintptr_t end = 0;

  [[nodiscard]] bool contains(const void* address) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= begin && at < end;
  }
};

// Whether the base name of a path begins with `prefix`.
[[nodiscard]] bool has_base_name(const char* path, const char* prefix) noexcept;

// The first whose base name begins with `prefix` ("libcudart.so" finds libcudart.so.13). False if
// there is none.
[[nodiscard]] bool find_loaded_library(const char* prefix, loaded_library& found) noexcept;

// The one whose code or data an address is in; the program itself has no path.
[[nodiscard]] bool find_library_of(const void* address, loaded_library& found) noexcept;

// A symbol that such a library exports, or null. The library stays loaded for good.
[[nodiscard]] void* find_in_loaded_library(const char* prefix, const char* symbol) noexcept;

}  // namespace memtrace
