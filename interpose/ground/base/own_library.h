// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Where this library begins and ends: set by the linker.
extern "C" [[gnu::visibility("hidden")]] const char __ehdr_start[];
extern "C" [[gnu::visibility("hidden")]] const char _end[];

namespace memtrace {

// Whether an address is in libmemtrace.so: a wrapper, or the code of a caller. Two comparisons.
[[nodiscard]] inline bool is_own(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at >= reinterpret_cast<std::uintptr_t>(&__ehdr_start[0]) &&
         at < reinterpret_cast<std::uintptr_t>(&_end[0]);
}

}  // namespace memtrace
