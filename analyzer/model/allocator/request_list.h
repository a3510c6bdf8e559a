// SPDX-License-Identifier: Apache-2.0
//
// Many requests in 8 bytes each instead of 16: a program asks for the same few sizes over and over,
// so what requests have in common is kept once, and of each only that and its block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/allocator/index_iterator.h"
#include "analyzer/model/allocator/request.h"

namespace memtrace::allocator {

class request_list {
 public:
  using const_iterator = index_iterator<request_list, request>;

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  // Put together anew; constant, since what is changed in it would be lost: see set.
  [[nodiscard]] const request operator[](std::size_t index) const {
    const auto& one = all_[index];
    auto made = kinds_[one.kind];
    made.block = one.block;
    return made;
  }
  [[nodiscard]] const request at(std::size_t index) const;  // throws std::out_of_range
  [[nodiscard]] const request back() const { return (*this)[size() - 1]; }
  [[nodiscard]] const_iterator begin() const { return {*this, 0}; }
  [[nodiscard]] const_iterator end() const { return {*this, size()}; }

  void reserve(std::size_t count) { all_.reserve(count); }
  void push_back(const request& one) { all_.push_back({kind_of(one), one.block}); }
  void set(std::size_t index, const request& one) { all_[index] = {kind_of(one), one.block}; }
  // The first `count` of them stay, which must not be more than there are.
  void shorten(std::size_t count) { all_.resize(count); }

 private:
  struct entry {
    std::uint32_t kind = 0;
    block_number block = 0;
  };

  [[nodiscard]] std::uint32_t kind_of(const request& one);
  // Of slots_: where a kind is, or is to be written.
  [[nodiscard]] std::size_t slot_of(const request& kind) const;
  void widen();

  std::vector<request> kinds_;        // without a block
  std::vector<std::uint32_t> slots_;  // open addressing over kinds_: index + 1; 0: free
  std::vector<entry> all_;
};

}  // namespace memtrace::allocator
