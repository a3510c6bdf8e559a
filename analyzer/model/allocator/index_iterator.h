// SPDX-License-Identifier: Apache-2.0
//
// Goes through a list by index, for lists that make what they hold anew at each look: begin() and
// end() of request_list, event_list and blocks::fact_list. Random access for std::ranges; to the
// older algorithms, which want references for that, an input iterator.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <utility>

namespace memtrace::allocator {

template <class List, class Value>
class index_iterator {
 public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Value;

  index_iterator() = default;
  index_iterator(const List& of, std::size_t at) : of_(&of), at_(at) {}
  [[nodiscard]] Value operator*() const { return (*of_)[at_]; }
  [[nodiscard]] Value operator[](difference_type by) const { return *(*this + by); }
  index_iterator& operator+=(difference_type by) {
    at_ += static_cast<std::size_t>(by);
    return *this;
  }
  index_iterator& operator-=(difference_type by) { return *this += -by; }
  index_iterator& operator++() { return *this += 1; }
  index_iterator& operator--() { return *this -= 1; }
  index_iterator operator++(int) { return std::exchange(*this, *this + 1); }
  index_iterator operator--(int) { return std::exchange(*this, *this - 1); }
  friend index_iterator operator+(index_iterator from, difference_type by) { return from += by; }
  friend index_iterator operator+(difference_type by, index_iterator from) { return from += by; }
  friend index_iterator operator-(index_iterator from, difference_type by) { return from -= by; }
  friend difference_type operator-(const index_iterator& a, const index_iterator& b) {
    return static_cast<difference_type>(a.at_) - static_cast<difference_type>(b.at_);
  }
  [[nodiscard]] bool operator==(const index_iterator& other) const { return at_ == other.at_; }
  [[nodiscard]] std::strong_ordering operator<=>(const index_iterator& other) const {
    return at_ <=> other.at_;
  }

 private:
  const List* of_ = nullptr;
  std::size_t at_ = 0;
};

}  // namespace memtrace::allocator
