// SPDX-License-Identifier: Apache-2.0
//
// Many requests in 8 bytes each instead of 16: a program asks for the same few sizes over and over,
// so what requests have in common is kept once, and of each only that and its block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/allocator/index_iterator.h"

namespace memtrace::allocator {

// One thing that a program asks of the caching allocator.
// Allocations are numbered from 0 in their order, the refused ones included.
using block_number = std::uint32_t;

enum class action : std::uint8_t {
  allocate,  // block; size: requested bytes
  // block: the program gives it back. size: 1 where other streams may still use it (record_stream):
  // unusable until `complete`; 0: usable at once
  free,
  // block: streams that held its free up are done. size: 1 where in the recorded run the allocator
  // itself had to wait for them (a retry, or empty_cache): they were done later by themselves
  complete,
  empty_cache,  // pool (0: everything)
  // pool: a MemPool was made; until its pool_release it keeps its memory. size: 1 where it has an
  // allocator of its own
  pool_create,
  // pool: allocations of the thread go there. size: 1 where it was made before, as by pool_create,
  // but that was not recorded
  pool_begin,
  pool_end,         // pool
  pool_release,     // pool
  pool_no_split,    // pool: its blocks are not split
  pool_use_on_oom,  // pool; size: 1 where its cached blocks serve the default pool, before retries
  memory_fraction,  // size: bits of the double
  settings,         // size: index in texts
};

struct request {
  std::uint64_t size = 0;
  block_number block = 0;
  std::uint16_t stream = 0;     // of allocate: index in request_log::streams
  std::uint16_t pool : 12 = 0;  // index in request_log::pools; 0 is the default pool
  std::uint16_t what_bits : 4 = 0;
  [[nodiscard]] action what() const { return static_cast<action>(what_bits); }
  void set_what(action now) { what_bits = static_cast<std::uint16_t>(now) & 15u; }
  [[nodiscard]] bool operator==(const request&) const = default;
};
static_assert(sizeof(request) == 16);

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
  // The place in slots_ where a kind is, or is to be written.
  [[nodiscard]] std::size_t slot_of(const request& kind) const;
  void widen();

  std::vector<request> kinds_;        // without a block
  std::vector<std::uint32_t> slots_;  // open addressing over kinds_: index + 1; 0: free
  std::vector<entry> all_;
};

}  // namespace memtrace::allocator
