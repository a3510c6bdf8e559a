// SPDX-License-Identifier: Apache-2.0
//
// The source of the allocator's events: its own trace tracker, attached without compiling against
// torch. The allocator object, its member functions in .symtab and its vtable must all agree,
// otherwise it is left alone and the reports to PyTorch's profiler serve instead.
//
//   attach_if_possible() ─► attachAllocatorTraceTracker(our std::function)
//   allocator ─► (under its device mutex) ─► entry ─► allocator_event ─► recorder
//   allocator ─► reportMemoryUsageToProfiler ─► report_usage() ─► checksum, or fallback
//
// The library must never be unloaded once attached; LD_PRELOAD sees to that.
#pragma once

#include "interpose/ground/recorder/events.h"
#include "interpose/ground/recorder/recorder.h"

namespace memtrace::trace_tracker {

// From any hook; cheap once the matter is settled. The allocator may be in the middle of an
// operation of this thread (its mutex is recursive). False: another thread is attaching.
bool attach_if_possible() noexcept;

// The same from where no allocator mutex is held, before an allocation: waits for another thread
// that is attaching, 20 ms at most.
void attach_before_allocating() noexcept;

// Settled: attached, or given up.
[[nodiscard]] bool is_settled() noexcept;

// Whether the entries say which pool an allocation is in; true as long as none was seen.
[[nodiscard]] bool entries_name_pools() noexcept;

// The allocator's report of an allocation or a free.
void report_usage(const usage_report& report) noexcept;

// A tensor of `asked` bytes that PyTorch took from CUDA's own pool or gives back to it, with
// backend:cudaMallocAsync: that allocator tells nobody, so its calls of CUDA are its events.
// Returns the stack.
stack_id report_pool_block(recorder& to, std::uint32_t device, std::uint64_t address,
                           std::uint64_t asked, bool is_free) noexcept;

// The allocator's report of an allocation that failed; its entry says more where it is tracked.
void report_out_of_memory(std::uint32_t device, std::uint64_t size) noexcept;

}  // namespace memtrace::trace_tracker
