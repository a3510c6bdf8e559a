// SPDX-License-Identifier: Apache-2.0
//
// The model's proof: a recorded run replayed under its own options, with the driver answering as
// recorded, must do at every event what the recorded allocator did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/model/allocator/request_log.h"
#include "analyzer/model/allocator/what_if.h"

namespace memtrace::allocator {

struct difference {
  std::uint64_t event = 0;
  std::string what;  // "address of the block", "segment freed", "reserved", …
  std::uint64_t recorded = 0;
  std::uint64_t replayed = 0;
};

struct exactness {
  bool exact = false;
  std::uint64_t events = 0;  // compared: allocations, frees, segments, totals, retries
  std::uint64_t compared_totals = 0;
  std::optional<difference> first;  // where it is not exact
  // The recorded run, at its own addresses; where it is not exact, until then.
  outcome replayed;
};

// Compares the address and size of every block, every segment got, mapped, unmapped and given back,
// every failed call, retry and out of memory, and both totals after every event that has them.
[[nodiscard]] exactness compare_with_recording(const request_log& log);

}  // namespace memtrace::allocator
