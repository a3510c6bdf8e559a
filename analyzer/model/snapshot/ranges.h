// SPDX-License-Identifier: Apache-2.0
//
// A set of addresses as ranges that do not touch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace memtrace::snapshot {

class ranges {
 public:
  void add(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    auto next = ends_.upper_bound(begin);
    if (next != ends_.begin() && std::prev(next)->second >= begin) --next;
    while (next != ends_.end() && next->first <= end) {
      begin = std::min(begin, next->first);
      end = std::max(end, next->second);
      next = ends_.erase(next);
    }
    ends_.emplace(begin, end);
  }

  void remove(std::uint64_t begin, std::uint64_t end) {
    auto next = ends_.upper_bound(begin);
    if (next != ends_.begin() && std::prev(next)->second > begin) --next;
    while (next != ends_.end() && next->first < end) {
      const auto [from, to] = *next;
      next = ends_.erase(next);
      if (from < begin) ends_.emplace(from, begin);
      if (to > end) ends_.emplace(end, to);
    }
  }

  // use(begin, end): each part of that range which is not in the set.
  void each_gap(std::uint64_t begin, std::uint64_t end, const auto& use) const {
    auto next = ends_.upper_bound(begin);
    if (next != ends_.begin()) begin = std::max(begin, std::prev(next)->second);
    for (; begin < end; ++next) {
      const auto until = next == ends_.end() ? end : std::min(end, next->first);
      if (begin < until) use(begin, until);
      if (next == ends_.end()) return;
      begin = std::max(begin, next->second);
    }
  }

  // Where the range that holds the address ends; the address itself: none does.
  [[nodiscard]] std::uint64_t end_of(std::uint64_t address) const {
    const auto next = ends_.upper_bound(address);
    if (next == ends_.begin()) return address;
    return std::max(address, std::prev(next)->second);
  }

  [[nodiscard]] bool empty() const { return ends_.empty(); }
  [[nodiscard]] auto begin() const { return ends_.begin(); }
  [[nodiscard]] auto end() const { return ends_.end(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // by begin
};

}  // namespace memtrace::snapshot
