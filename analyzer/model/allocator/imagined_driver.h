// SPDX-License-Identifier: Apache-2.0
//
// A driver with a capacity that gives addresses by a policy (what_if.h). Memory comes in granules
// of 2 MiB, as it does on all GPUs so far.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analyzer/model/allocator/driver.h"
#include "analyzer/model/allocator/what_if.h"

namespace memtrace::allocator {

// A range of addresses, of which parts are taken.
class address_gaps {
 public:
  address_gaps(std::uint64_t begin, std::uint64_t bytes) { gaps_[begin] = bytes; }

  // The lowest gap that fits. After so many that do not, the last one, which is the largest in all
  // but contrived cases: bounded time.
  [[nodiscard]] std::optional<std::uint64_t> take_lowest(std::uint64_t bytes) {
    constexpr int most_looked_at = 4096;
    int looked_at = 0;
    for (auto gap = gaps_.begin(); gap != gaps_.end() && looked_at < most_looked_at;
         ++gap, ++looked_at) {
      if (gap->second >= bytes) return cut(gap, gap->first, bytes);
    }
    if (gaps_.empty()) return std::nullopt;
    const auto last = std::prev(gaps_.end());
    if (last->second < bytes) return std::nullopt;
    return cut(last, last->first, bytes);
  }

  // Exactly there; false: something of it is taken.
  [[nodiscard]] bool take_at(std::uint64_t address, std::uint64_t bytes) {
    auto gap = gaps_.upper_bound(address);
    if (gap == gaps_.begin()) return false;
    --gap;
    const auto skipped = address - gap->first;
    if (skipped > gap->second || bytes > gap->second - skipped) return false;
    cut(gap, address, bytes);
    return true;
  }

  void give_back(std::uint64_t address, std::uint64_t bytes) {
    auto after = gaps_.lower_bound(address);
    if (after != gaps_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == address) {
        address = before->first;
        bytes += before->second;
        gaps_.erase(before);
      }
    }
    if (after != gaps_.end() && address + bytes == after->first) {
      bytes += after->second;
      gaps_.erase(after);
    }
    gaps_[address] = bytes;
  }

 private:
  using gap_map = std::map<std::uint64_t, std::uint64_t>;

  std::uint64_t cut(gap_map::iterator gap, std::uint64_t address, std::uint64_t bytes) {
    const auto begin = gap->first;
    const auto end = begin + gap->second;
    gaps_.erase(gap);
    if (address > begin) gaps_[begin] = address - begin;
    if (end > address + bytes) gaps_[address + bytes] = end - (address + bytes);
    return address;
  }

  gap_map gaps_;  // begin → bytes, never adjacent
};

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
