// SPDX-License-Identifier: Apache-2.0
//
// The device records: what the driver says about each device that has events, asked once. Asks
// only what neither creates a context nor waits for the GPU nor disturbs a stream capture.
#pragma once

#include <cstdint>

#include "interpose/recorder/recorder.h"

namespace memtrace::device_log {

// The device of the calling thread's context; the one it had last, or 0, where there is none.
[[nodiscard]] std::uint32_t current() noexcept;

// Of the current device, by anybody. 0: not known, as without a context.
[[nodiscard]] std::uint64_t used_bytes() noexcept;

// Before an allocation: notes how much of the current device is free, if nothing is known yet.
void sample_current() noexcept;

// After the first allocation, where there was no context to ask before it (the runtime makes one in
// its first call): `bytes` of device memory were allocated since.
void sample_after_allocation(std::uint64_t bytes) noexcept;

// The device's record is in this recording from here on.
void ensure(recorder& to, std::uint32_t device) noexcept;

}  // namespace memtrace::device_log
