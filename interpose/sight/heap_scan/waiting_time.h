// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace memtrace::heap_scan {

// How long the calling thread waits for a processor that others have, from now on. What it waits
// for a disk (swapped memory) is not in it. 0 where the kernel does not tell.
class waiting_time {
 public:
  waiting_time() noexcept;
  [[nodiscard]] std::uint64_t so_far_ns() const noexcept;

 private:
  std::uint64_t before_ns_;
};

}  // namespace memtrace::heap_scan
