// SPDX-License-Identifier: Apache-2.0
//
// The known contents of device memory. Device memory has no pages behind it and kernels
// do nothing; uploads of up to remember_limit bytes and fills are remembered by address, and
// reading back gives zeros overlaid with them. All functions are thread-safe; addresses are device
// addresses and ranges need not be allocated.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/core/device_memory.h"

namespace memtrace::simulator::contents {

inline constexpr std::size_t remember_limit = 1 << 20;  // bytes of one upload
inline constexpr std::size_t budget = 64 << 20;         // bytes in all; the oldest go first
// Batches must not drive out flags: what is larger than this has a budget of its own within that.
inline constexpr std::size_t large = 64 << 10;
inline constexpr std::size_t large_budget = 32 << 20;

// Host memory was copied to the device: remembered if small, else the range is forgotten.
void upload(address_t to, const void* from, std::size_t bytes);

// A kernel's result, in host memory. `real` is false for what follows from zeros that were
// taken for unknown data: reads give it, and are counted all the same.
void result(address_t to, const void* from, std::size_t bytes, bool real);

// `count` times a value of `width` (1, 2, 4, 8) bytes, little-endian. Zeros are remembered for any
// count, other values like an upload of that size.
void fill(address_t to, std::uint64_t value, std::size_t width, std::size_t count);
inline void zero(address_t to, std::size_t bytes) {
  fill(to, 0, 1, bytes);
}

// Copies on the device what is known of the source, up to remember_limit bytes.
void copy(address_t to, address_t from, std::size_t bytes);

// The range holds something unknown from now on: a kernel or library wrote there, or the memory was
// freed. Reads give zeros.
void forget(address_t to, std::size_t bytes);
inline void computed(address_t to, std::size_t bytes) {
  forget(to, bytes);
}

// A kernel wrote from that address on, `at_least` bytes: forgotten is also the rest of the upload
// or fill that holds the address and, at the start of a 512-byte unit (PyTorch hands out no smaller
// pieces of memory), the rest of the last unit.
void computed_from(address_t to, std::size_t at_least = 1);

// A kernel may have written at that address, or only read it: forgets the fill or result that holds
// it, keeps what came from the host.
void maybe_computed(address_t to);

// A kernel ran that may have written anywhere: nothing is known of its arguments. Makes the start
// of an earlier upload doubtful: a shorter read there is taken for a new tensor at a recycled
// address. Cheap.
void unknown_kernel_ran();

// Writes `bytes` bytes to host memory: zeros overlaid with what is known. How many from the first on
// are known.
std::size_t read_start(void* to, address_t from, std::size_t bytes);
// The same. True if all is known.
inline bool read(void* to, address_t from, std::size_t bytes) {
  return read_start(to, from, bytes) == bytes;
}

// Bytes of host memory that all of it takes.
[[nodiscard]] std::size_t remembered();

}  // namespace memtrace::simulator::contents

// Reads of what is not known. The agent may have said what such a read gives
// (interpose/sight/agent/chosen_values.py); all others give zeros, are told to the recorder, counted,
// and said once, at exit.
namespace memtrace::simulator::unknown_reads {

// Data that a kernel computed, or that was too large to remember, was copied to the host: `to` has
// `bytes` bytes, zeros overlaid with what is known.
void note(void* to, address_t address, std::size_t bytes);

}  // namespace memtrace::simulator::unknown_reads
