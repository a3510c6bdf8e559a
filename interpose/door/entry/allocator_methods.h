// SPDX-License-Identifier: Apache-2.0
//
// The program's calls of the allocator besides allocating: empty_cache, private pools, the memory
// fraction. They are virtual functions, so the allocator gets a copy of its vtable with those
// slots replaced; every wrapper records and calls the original. Where one of them is not as in a
// known release (native_allocator.h), the vtable stays, and that is said.
#pragma once

#include "interpose/door/entry/native_allocator.h"
#include "interpose/ground/recorder/recorder.h"

namespace memtrace::allocator_methods {

// Once; not with MEMTRACE_ALLOCATOR_METHODS=0.
void replace(const native_allocator& allocator) noexcept;

// A memory fraction of the device that was set before the allocator was found: into each recording
// once, at the device's first event. Takes the allocator's mutex, which is recursive.
void record_earlier_fraction(recorder& to, std::uint32_t device) noexcept;

}  // namespace memtrace::allocator_methods
