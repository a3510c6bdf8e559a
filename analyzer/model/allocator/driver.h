// SPDX-License-Identifier: Apache-2.0
//
// The source of memory that the allocator's model asks: CUDA's driver, as one policy imagines it or
// as a recording says it answered. Sizes are bytes.
#pragma once

#include <cstdint>
#include <optional>

namespace memtrace::allocator {

class driver {
 public:
  driver() = default;
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;
  virtual ~driver() = default;

  // cudaMalloc: an address; empty: out of memory.
  [[nodiscard]] virtual std::optional<std::uint64_t> allocate(std::uint64_t bytes) = 0;
  virtual void free(std::uint64_t address, std::uint64_t bytes) = 0;
  // cuMemAddressReserve, for an expandable segment.
  [[nodiscard]] virtual std::optional<std::uint64_t> reserve(std::uint64_t bytes) = 0;
  virtual void unreserve(std::uint64_t address, std::uint64_t bytes) = 0;
  // cuMemCreate and cuMemMap of all granules there; false: out of memory, and nothing was mapped.
  [[nodiscard]] virtual bool map(std::uint64_t address, std::uint64_t bytes,
                                 std::uint64_t granule) = 0;
  virtual void unmap(std::uint64_t address, std::uint64_t bytes) = 0;
};

}  // namespace memtrace::allocator
