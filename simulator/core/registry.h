// SPDX-License-Identifier: Apache-2.0
//
// The table behind find(): every live allocation of the process by address. Each kind of memory
// adds and removes its own.
#pragma once

#include <vector>

#include "simulator/core/device_memory.h"

namespace memtrace::simulator::registry {

// Returns the id given to the allocation. `range.base` must not lie in a live allocation.
std::uint64_t add(memory_range range);

// True if any live allocation overlaps [base, base + size).
[[nodiscard]] bool overlaps(address_t base, std::size_t size);

// Removes the allocation that starts at `base` if `wanted` says so; the removed one, or unknown.
memory_range remove(address_t base, bool (*wanted)(const memory_range&));

// Memory that ends with the context, and memory that pools handed out on the device.
[[nodiscard]] std::vector<memory_range> of_context(CUcontext context);
[[nodiscard]] std::vector<address_t> pool_memory_on(int device);

}  // namespace memtrace::simulator::registry
