// SPDX-License-Identifier: Apache-2.0
//
// Numbers of events that hardly ever fall, such as those of requests, in little more than 2 bytes
// each instead of 8: of every few hundred the first is kept, of the others how far they are from
// it. What is too far is kept whole.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <vector>

namespace memtrace::allocator {

class event_list {
 public:
  class const_iterator;

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
  [[nodiscard]] const_iterator begin() const;
  [[nodiscard]] const_iterator end() const;

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

class event_list::const_iterator {
 public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;  // what it points to is made anew
  using value_type = std::uint64_t;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = std::uint64_t;

  const_iterator() = default;
  const_iterator(const event_list& of, std::size_t at) : of_(&of), at_(at) {}
  [[nodiscard]] std::uint64_t operator*() const { return (*of_)[at_]; }
  [[nodiscard]] std::uint64_t operator[](difference_type by) const { return *(*this + by); }
  const_iterator& operator+=(difference_type by) {
    at_ += static_cast<std::size_t>(by);
    return *this;
  }
  const_iterator& operator-=(difference_type by) { return *this += -by; }
  const_iterator& operator++() { return *this += 1; }
  const_iterator& operator--() { return *this -= 1; }
  const_iterator operator++(int) {
    const auto before = *this;
    ++*this;
    return before;
  }
  const_iterator operator--(int) {
    const auto before = *this;
    --*this;
    return before;
  }
  friend const_iterator operator+(const_iterator from, difference_type by) { return from += by; }
  friend const_iterator operator+(difference_type by, const_iterator from) { return from += by; }
  friend const_iterator operator-(const_iterator from, difference_type by) { return from -= by; }
  friend difference_type operator-(const const_iterator& a, const const_iterator& b) {
    return static_cast<difference_type>(a.at_) - static_cast<difference_type>(b.at_);
  }
  [[nodiscard]] bool operator==(const const_iterator& other) const { return at_ == other.at_; }
  [[nodiscard]] std::strong_ordering operator<=>(const const_iterator& other) const {
    return at_ <=> other.at_;
  }

 private:
  const event_list* of_ = nullptr;
  std::size_t at_ = 0;
};

inline event_list::const_iterator event_list::begin() const {
  return {*this, 0};
}

inline event_list::const_iterator event_list::end() const {
  return {*this, size()};
}

}  // namespace memtrace::allocator
