// SPDX-License-Identifier: Apache-2.0
//
// Numbers of events that hardly ever fall, such as those of requests, in little more than 2 bytes
// each instead of 8: of every few hundred the first is kept, of the others how far they are from
// it. What is too far is kept whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <vector>

#include "analyzer/model/allocator/index_iterator.h"

namespace memtrace::allocator {

class event_list {
 public:
  using const_iterator = index_iterator<event_list, std::uint64_t>;

  event_list() = default;
  event_list(std::initializer_list<std::uint64_t> events) {
    for (const auto event : events) push_back(event);
  }

  [[nodiscard]] bool operator==(const event_list&) const = default;
  [[nodiscard]] std::size_t size() const { return distances_.size(); }
  [[nodiscard]] bool empty() const { return distances_.empty(); }
  [[nodiscard]] std::uint64_t operator[](std::size_t index) const {
    const auto distance = distances_[index];
    if (distance == too_far) [[unlikely]]
      return far_.at(index);
    return firsts_[index / together] + distance;
  }
  [[nodiscard]] std::uint64_t back() const { return (*this)[size() - 1]; }
  [[nodiscard]] const_iterator begin() const { return {*this, 0}; }
  [[nodiscard]] const_iterator end() const { return {*this, size()}; }

  void reserve(std::size_t count) { distances_.reserve(count); }
  void push_back(std::uint64_t event) {
    const auto index = size();
    if (index % together == 0) firsts_.push_back(event);
    const auto distance = event - firsts_.back();  // very large where it fell
    if (distance < too_far) [[likely]] {
      distances_.push_back(static_cast<std::uint16_t>(distance));
    } else {
      far_.emplace_hint(far_.end(), index, event);
      distances_.push_back(too_far);
    }
  }
  // The first `count` of them stay, which must not be more than there are.
  void shorten(std::size_t count) {
    distances_.resize(count);
    firsts_.resize((count + together - 1) / together);
    far_.erase(far_.lower_bound(count), far_.end());
  }

 private:
  static constexpr std::size_t together = 256;
  static constexpr std::uint16_t too_far = 0xffff;

  std::vector<std::uint16_t> distances_;
  std::vector<std::uint64_t> firsts_;
  std::map<std::size_t, std::uint64_t> far_;
};

}  // namespace memtrace::allocator
