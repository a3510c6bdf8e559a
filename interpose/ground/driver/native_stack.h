// SPDX-License-Identifier: Apache-2.0
//
// The native frames of a call on top of the Python ones: always where a library or a program asks
// the driver itself for memory, for all CUDA calls with MEMTRACE_NATIVE_STACKS=1. A frame is the
// file of a library and the function that it exports, or else the offset of the address in it
// ("+0x1f2a", as addr2line takes it). They end where Python's interpreter begins, whose own stack
// says more.
#pragma once

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::native_stack {

// `outer` itself where there is nothing to add. Some microseconds.
[[nodiscard]] stack_id capture(recorder& to, stack_id outer) noexcept;

// A thread of the parent may have been in the middle of it.
void in_forked_child() noexcept;

}  // namespace memtrace::native_stack
