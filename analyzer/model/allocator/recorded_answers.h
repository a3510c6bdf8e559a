// SPDX-License-Identifier: Apache-2.0
//
// The answers of the recorded allocator and the driver behind it at each request, which exactness.h
// compares with.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace memtrace::allocator {

enum class driver_action : std::uint8_t {
  allocated,  // cudaMalloc
  freed,      // cudaFree
  refused,    // cudaMalloc or cuMemCreate was out of memory
  reserved,   // cuMemAddressReserve
  mapped,
  unmapped,
};

// Which of the recorded allocator's answers are kept.
enum class kept_answers : std::uint8_t {
  of_driver,  // for layouts at the recorded addresses
  all,        // for exactness.h: 8 bytes a request more
};

struct driver_answer {
  std::uint32_t request = 0;  // at which it happened
  driver_action what{};
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t event = 0;
};

struct recorded_answers {
  static constexpr std::uint64_t not_told = std::numeric_limits<std::uint64_t>::max();

  struct reserved_total {
    std::uint32_t request = 0;  // from here on
    std::uint64_t bytes = 0;
  };

  // Empty where only the driver's answers are kept.
  std::vector<std::uint64_t> allocated;  // by request: the total after it, or not_told
  std::vector<reserved_total> reserved;  // where it changed
  std::vector<driver_answer> driver;     // in their order
};

}  // namespace memtrace::allocator
