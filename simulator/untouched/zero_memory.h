// SPDX-License-Identifier: Apache-2.0
//
// Memory of the host that reads as zeros because nobody has written to it: it has no pages. All
// functions are thread-safe, allocate nothing, and keep errno.
#pragma once

#include <cstddef>

namespace memtrace::simulator::untouched {

// Makes the range read as zeros, and gives its pages back to the system. False, and nothing is
// changed, where that is not possible: shared memory, files, locked memory.
[[nodiscard]] bool make_zero(void* begin, std::size_t bytes) noexcept;

// Whether the range lies in what make_zero made and still reads as zeros. Pages that were never
// written are not looked at, so that they stay away. False also where it cannot be told.
[[nodiscard]] bool is_zero(const void* begin, std::size_t bytes) noexcept;

}  // namespace memtrace::simulator::untouched
