// SPDX-License-Identifier: Apache-2.0
//
// Layouts and request logs by hand.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/allocator/layout.h"
#include "analyzer/model/allocator/request_log.h"

namespace memtrace::test {

using allocator::block_state;

constexpr std::uint64_t operator""_KiB(unsigned long long n) {
  return n << 10;
}
constexpr std::uint64_t operator""_MiB(unsigned long long n) {
  return n << 20;
}

struct given_block {
  block_state state;
  std::uint64_t bytes;
  std::uint32_t number = 0;
  std::uint64_t requested = 0;  // 0: all of it
};

struct given_segment {
  std::uint16_t stream = 0;
  std::uint16_t pool = 0;
  bool small = false;
  bool expandable = false;
};

// Segments one after the other, each at the next multiple of 64 MiB.
class heap {
 public:
  heap& segment(const given_segment& kind, const std::vector<given_block>& blocks) {
    allocator::layout_segment made;
    made.address = next_;
    made.stream = kind.stream;
    made.pool = kind.pool;
    made.small = kind.small;
    made.expandable = kind.expandable;
    auto at = next_;
    for (const auto& [state, bytes, number, requested] : blocks) {
      made.blocks.push_back({at, bytes, requested == 0 ? bytes : requested, state, number});
      at += bytes;
      made.bytes += bytes;
      if (state == block_state::unmapped) continue;
      made.mapped += bytes;
      if (state == block_state::allocated) found.allocated += bytes;
      if (state != block_state::cached) found.active += bytes;
    }
    found.reserved += made.mapped;
    found.segments.push_back(made);
    next_ += (made.bytes + 64_MiB - 1) / 64_MiB * 64_MiB;
    return *this;
  }
  heap& segment(const std::vector<given_block>& blocks) { return segment({}, blocks); }

  allocator::layout found;

 private:
  std::uint64_t next_ = 64_MiB;
};

inline given_block used(std::uint64_t bytes, std::uint32_t number = 0,
                        std::uint64_t requested = 0) {
  return {block_state::allocated, bytes, number, requested};
}
inline given_block held(std::uint64_t bytes) {
  return {block_state::pending, bytes};
}
inline given_block cached(std::uint64_t bytes) {
  return {block_state::cached, bytes};
}
inline given_block unmapped(std::uint64_t bytes) {
  return {block_state::unmapped, bytes};
}

// Requests in their order; the event of each is ten times its index.
class requests {
 public:
  requests() {
    log.streams.push_back(0);
    log.pools.emplace_back();
  }
  std::uint32_t allocate(std::uint64_t address, std::uint64_t bytes, std::uint16_t stream = 0) {
    const auto number = static_cast<std::uint32_t>(log.blocks());
    log.allocations.push_back(static_cast<std::uint32_t>(log.requests.size()));
    log.addresses.push_back(address);
    add(allocator::action::allocate, number, bytes, stream);
    return number;
  }
  void free(std::uint32_t number) { add(allocator::action::free, number); }
  void complete(std::uint32_t number) { add(allocator::action::complete, number); }
  // Its event.
  std::uint64_t pool(allocator::action what, std::uint16_t which) {
    add(what, 0);
    auto one = log.requests.back();
    one.pool = which & 0xfffu;
    log.requests.set(log.requests.size() - 1, one);
    return log.events.back();
  }

  allocator::request_log log;

 private:
  void add(allocator::action what, std::uint32_t number, std::uint64_t bytes = 0,
           std::uint16_t stream = 0) {
    allocator::request one;
    one.set_what(what);
    one.block = number;
    one.size = bytes;
    one.stream = stream;
    log.events.push_back(10 * log.requests.size());
    log.requests.push_back(one);
  }
};

}  // namespace memtrace::test
