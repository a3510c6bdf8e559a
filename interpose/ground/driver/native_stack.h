// SPDX-License-Identifier: Apache-2.0
//
// The native frames of a call on top of the Python ones: always where a library or a program asks
// the driver itself for memory, and for all memory of a program without Python; for all CUDA calls
// with MEMTRACE_NATIVE_STACKS=1. A frame is a file and an address in it, with the function that the
// file exports there ("main+0x1f2a"); info `library` says which file it was. They end where Python's
// interpreter begins, whose own stack says more.
#pragma once

#include <cstdint>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::native_stack {

// Names are looked up under the dynamic linker's lock, which it also holds while it runs a library's
// constructors: not for a caller who holds a lock that such a constructor may take.
enum class naming : std::uint8_t { exported, none };

// `outer` itself where there is nothing to add. Some microseconds.
[[nodiscard]] stack_id capture(recorder& to, stack_id outer,
                               naming how = naming::exported) noexcept;

// A thread of the parent may have been in the middle of it.
void in_forked_child() noexcept;

}  // namespace memtrace::native_stack
