// SPDX-License-Identifier: Apache-2.0
//
// A range of addresses, of which parts are taken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace memtrace::allocator {

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

}  // namespace memtrace::allocator
