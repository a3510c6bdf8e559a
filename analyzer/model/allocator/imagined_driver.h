// SPDX-License-Identifier: Apache-2.0
//
// A driver with a capacity that gives addresses by a policy (what_if.h). Memory comes in granules
// of 2 MiB, as it does on all GPUs so far.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/model/allocator/address_gaps.h"
#include "analyzer/model/allocator/driver.h"
#include "analyzer/model/allocator/what_if.h"

namespace memtrace::allocator {

class imagined_driver final : public driver {
 public:
  // `usable_bytes` 0: unlimited.
  imagined_driver(std::uint64_t usable_bytes, address_policy policy, std::uint64_t seed);

  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes) override;
  void free(std::uint64_t address, std::uint64_t bytes) override;
  [[nodiscard]] std::optional<std::uint64_t> reserve(std::uint64_t bytes) override;
  void unreserve(std::uint64_t address, std::uint64_t bytes) override;
  [[nodiscard]] bool map(std::uint64_t address, std::uint64_t bytes,
                         std::uint64_t granule) override;
  void unmap(std::uint64_t address, std::uint64_t bytes) override;

 private:
  // Where addresses of one kind of calls come from.
  struct space {
    space(std::uint64_t first, std::uint64_t bytes)
        : gaps(first, bytes), begin(first), size(bytes), top(first + bytes) {}
    address_gaps gaps;
    std::uint64_t begin;
    std::uint64_t size;
    std::uint64_t top;  // of what `descending` has not given yet
  };

  [[nodiscard]] bool charge(std::uint64_t bytes);
  [[nodiscard]] std::optional<std::uint64_t> place(space& where, std::uint64_t bytes);
  [[nodiscard]] std::optional<std::uint64_t> place_at_random(space& where, std::uint64_t bytes);

  std::uint64_t usable_bytes_;
  std::uint64_t used_bytes_ = 0;
  address_policy policy_;
  std::uint64_t random_;
  space segments_;
  space reservations_;
};

}  // namespace memtrace::allocator
