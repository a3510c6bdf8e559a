// SPDX-License-Identifier: Apache-2.0
//
// The memory, by NVML, of the processes on the devices that this one uses: counters of
// memtrace/host_samples.h. NVML is opened and asked in a thread of its own and nowhere else:
// opening it takes tens of milliseconds, and each question takes the driver's locks.
//
// Not the thread that looks at host memory: that one has file descriptors of its own, and what NVML
// opens must be the process's, because the program may use NVML, too (PyTorch does when memory runs
// out).
//
//   CUDA call, first look at a device ─► see() ──┐
//   module loaded, new high ──────────► wake() ──┼─► look: nvml::of_device ─► .own, .others
//   four times a second ─────────────────────────┘   within the budget
//
// MEMTRACE_NVML=0, or MEMTRACE_SAMPLING=0: there is no such thread.
#pragma once

#include <cstdint>
#include <optional>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::process_watch {

// With the library.
void load() noexcept;
// Once for each recording.
void start(recorder& to) noexcept;
// Waits for a look that is under way, a fifth of a second at most.
void finish() noexcept;
void in_forked_child() noexcept;

// From CUDA calls. This device is one of those to look at; it has a context.
void see(std::uint32_t device) noexcept;
// Somebody may have more now: a look soon. Some ns where one was asked for already.
void wake() noexcept;

// All other processes together, when it was first looked after device_log knew what they and the
// contexts have; nothing before that.
[[nodiscard]] std::optional<std::uint64_t> others_at_first(std::uint32_t device) noexcept;
// The contexts on it ended: the next look is the first.
void device_ended(std::uint32_t device) noexcept;

}  // namespace memtrace::process_watch
