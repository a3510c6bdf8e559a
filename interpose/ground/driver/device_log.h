// SPDX-License-Identifier: Apache-2.0
//
// The device records: what the driver says about each device that has events, asked once; and what
// was in use on it that this process had not asked for. Asks only what neither creates a context
// nor waits for the GPU nor disturbs a stream capture.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::device_log {

// The device of the calling thread's context; the one it had last, or 0, where there is none.
[[nodiscard]] std::uint32_t current() noexcept;

// Bytes in use on the current device, by anybody. 0: not known, as without a context.
[[nodiscard]] std::uint64_t used_bytes() noexcept;

// Before an allocation: notes how much of the current device is free, if nothing is known yet.
void sample_current() noexcept;

// After the first allocation, where there was no context to ask before it (the runtime makes one in
// its first call): `bytes` of device memory were allocated since.
void sample_after_allocation(std::uint64_t bytes) noexcept;

// Before the first look at a device, where the recording begins late: what is allocated already.
void taken_before(std::uint32_t device, std::uint64_t bytes) noexcept;

// The device's record is in this recording from here on.
void ensure(recorder& to, std::uint32_t device) noexcept;

// "0000:01:00.0" with a zero after it; false where the driver does not say.
[[nodiscard]] bool pci_bus_id(std::uint32_t device, std::span<char> to) noexcept;

// A context was made, or the device's own taken into use; `used_before` is used_bytes() before
// that.
void context_made(std::uint32_t device, std::uint64_t handle, std::uint64_t used_before) noexcept;
// Before it ends.
void context_ends(std::uint64_t handle) noexcept;
// With all contexts on it.
void device_ended(std::uint32_t device) noexcept;

// The memory of other processes, and what making this process's contexts took: at the first look,
// and since then for the contexts that came and went. Nothing before that look.
[[nodiscard]] std::optional<std::uint64_t> others_and_contexts(std::uint32_t device) noexcept;

}  // namespace memtrace::device_log
