// SPDX-License-Identifier: Apache-2.0
//
// From CUPTI's buffers into the trace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/door/cupti/cupti_library.h"

namespace memtrace::cupti {

// CUPTI's clock against CLOCK_MONOTONIC, ns: what to add to its times.
[[nodiscard]] std::int64_t clock_difference(const library& cupti) noexcept;

// Records what is in the buffer. Begins a recording if the buffer tells of memory and none runs.
void read_buffer(const library& cupti, std::uint8_t* buffer, std::size_t valid) noexcept;

// Records that CUPTI dropped so far.
[[nodiscard]] std::uint64_t lost_records() noexcept;

}  // namespace memtrace::cupti
