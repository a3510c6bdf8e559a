// SPDX-License-Identifier: Apache-2.0
//
// Memory for what memtrace keeps, in mappings of its own. Not out of malloc: a small piece of ours
// between two large ones of the program's, kept longer than they are, makes that the program's
// heap never shrinks again. operator new and delete of the library lead here (entry/
// heap_operators.cpp), so nobody else needs to know of it.
//
// Any thread may call, and a signal handler on top of a call too: what that takes is mapped by
// itself, and a small piece that it releases is lost. What was released is used again; up to
// `largest_pooled` bytes it is not given back to the system.
#pragma once

#include <cstddef>

namespace memtrace::own_heap {

inline constexpr std::size_t largest_pooled = std::size_t{64} << 10;

// Registers with fork(), so that a child finds the heap whole. Once, before any other handler that
// may allocate in the child; without it, a child forked at a bad moment has no memory of ours.
void load() noexcept;

// Aligned to 16 bytes. Null without memory, also in a child that was made without fork()'s handlers
// while another thread had the heap.
[[nodiscard]] void* allocate(std::size_t bytes) noexcept;
void release(void* memory) noexcept;  // null is allowed

}  // namespace memtrace::own_heap
