// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory management: address ranges without memory, physical memory without an address, and
// mapping one to the other. Physical memory is charged when it is created and given back when its
// last handle is released and its last mapping undone.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "simulator/core/device_memory.h"

namespace memtrace::simulator::vmm {

// Both granularities (minimum and recommended) of device memory.
inline constexpr std::size_t granularity = 2u << 20;

[[nodiscard]] CUresult reserve(address_t& address, std::size_t bytes, std::size_t alignment,
                               address_t wanted);
// Error 1 unless it is exactly a reservation without mappings.
[[nodiscard]] CUresult free_reservation(address_t address, std::size_t bytes);

using handle_t = CUmemGenericAllocationHandle;

// Error 1: bytes not a multiple of the granularity; 101: no such device; 2: does not fit.
[[nodiscard]] CUresult create(handle_t& handle, std::size_t bytes, const CUmemAllocationProp& prop);
// Costs nothing: what is bound to it has been paid for.
[[nodiscard]] CUresult create_multicast(handle_t& handle, std::size_t bytes);
[[nodiscard]] CUresult release(handle_t handle);
// A further reference to the memory mapped at the address.
[[nodiscard]] CUresult retain(handle_t& handle, address_t address);
[[nodiscard]] CUresult properties(CUmemAllocationProp& prop, handle_t handle);
[[nodiscard]] CUresult size_of(handle_t handle, std::size_t& bytes);

// Error 1: not the whole handle, not in one reservation, or over another mapping.
[[nodiscard]] CUresult map(address_t address, std::size_t bytes, std::size_t offset,
                           handle_t handle);
// Error 1 unless the range is made of whole mappings.
[[nodiscard]] CUresult unmap(address_t address, std::size_t bytes);

// Error 1 unless all of the range is mapped.
[[nodiscard]] CUresult set_access(address_t address, std::size_t bytes,
                                  const CUmemAccessDesc* descriptions, std::size_t count);
[[nodiscard]] CUresult get_access(unsigned long long& flags, const CUmemLocation& location,
                                  address_t address);

// A file descriptor that names the memory to this and other processes. In another process the
// imported memory is foreign: it costs nothing there.
[[nodiscard]] CUresult export_descriptor(int& descriptor, handle_t handle);
[[nodiscard]] CUresult import_descriptor(handle_t& handle, int descriptor);

}  // namespace memtrace::simulator::vmm
