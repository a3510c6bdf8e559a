// SPDX-License-Identifier: Apache-2.0
//
// What is known of the contents of device memory. Device memory has no pages behind it and kernels
// do nothing; uploads of up to remember_limit bytes and fills are remembered by address, and
// reading back gives zeros overlaid with them. All functions are thread-safe; addresses are device
// addresses and ranges need not be allocated.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/core/device_memory.h"

namespace memtrace::simulator::contents {

inline constexpr std::size_t remember_limit = 64 << 10;  // bytes of one upload
inline constexpr std::size_t budget = 64 << 20;          // bytes in all; the oldest go first

// Host memory was copied to the device: remembered if small, else the range is forgotten.
void upload(address_t to, const void* from, std::size_t bytes);

// `count` times a value of `width` (1, 2, 4, 8) bytes. Zeros are merely forgotten.
void fill(address_t to, std::uint64_t value, std::size_t width, std::size_t count);

// Zeros cost nothing: forgetting the range is the same, but reads of it are reads of known data.
void zero(address_t to, std::size_t bytes);

// Copies on the device what is remembered of the source.
void copy(address_t to, address_t from, std::size_t bytes);

// A kernel or library wrote something unknown there: reads give zeros, and are counted.
void computed(address_t to, std::size_t bytes);

// The allocation is gone.
void forget(address_t to, std::size_t bytes);

// Writes `bytes` bytes to host memory: zeros overlaid with what is remembered.
void read(void* to, address_t from, std::size_t bytes);

}  // namespace memtrace::simulator::contents
