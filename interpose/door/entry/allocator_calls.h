// SPDX-License-Identifier: Apache-2.0
//
// The program's calls of PyTorch's allocator besides allocating.
#pragma once

#include "interpose/door/entry/native_allocator.h"
#include "interpose/ground/recorder/recorder.h"

// empty_cache, private pools, the memory fraction.
namespace memtrace::allocator_methods {

// Once; not with MEMTRACE_ALLOCATOR_METHODS=0.
void replace(const native_allocator& allocator) noexcept;

// A memory fraction of the device that was set before the allocator was found: into each recording
// once, at the device's first event. Takes the allocator's mutex, which is recursive.
void record_earlier_fraction(recorder& to, std::uint32_t device) noexcept;

}  // namespace memtrace::allocator_methods

// Changes of the allocator's settings at run time (torch.cuda.memory._set_allocator_settings):
// recorded in their place, or remembered until there is a recording.
namespace memtrace::allocator_settings {

// When a recording begins: the changes before it.
void record_earlier(recorder& to) noexcept;

}  // namespace memtrace::allocator_settings
