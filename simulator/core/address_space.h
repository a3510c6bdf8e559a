// SPDX-License-Identifier: Apache-2.0
//
// Device addresses. One range of the process's address space is reserved without access at a fixed
// place, so that addresses are the same on every run, whatever the kernel's randomisation does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace memtrace::simulator {

using address_t = std::uint64_t;

// Hands out ranges of [begin, end): the lowest that fits, as drivers were seen to fill holes; the
// order in which a real driver reuses addresses is not documented.
class range_allocator {
 public:
  range_allocator(address_t begin, address_t end);

  // `alignment` is a power of two. `wanted` is used if it is free, 0 for anywhere. 0 if none fits.
  [[nodiscard]] address_t allocate(std::uint64_t size, std::uint64_t alignment,
                                   address_t wanted = 0);
  void release(address_t address, std::uint64_t size);

 private:
  [[nodiscard]] bool carve(address_t address, std::uint64_t size);

  std::map<address_t, std::uint64_t> free_;  // begin → size, never adjacent to each other
};

namespace address_space {

struct span {
  address_t begin;
  address_t end;
};

// The whole range, and its parts: what cudaMalloc returns on a device, what pools return, what
// cuMemAddressReserve returns, managed memory, which alone has pages, what graphs' allocation nodes
// return, and what other processes share with this one.
[[nodiscard]] span whole();
[[nodiscard]] span of_device(int device);
// Apart from the whole range: addresses that fit into 32 bits. Empty if there are none left.
[[nodiscard]] span below_4_gib_of_device(int device);
[[nodiscard]] span of_pools();
[[nodiscard]] span of_reservations();
[[nodiscard]] span of_managed();
[[nodiscard]] span of_graphs();
[[nodiscard]] span of_imports();

}  // namespace address_space
}  // namespace memtrace::simulator
