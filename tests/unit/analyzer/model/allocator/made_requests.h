// SPDX-License-Identifier: Apache-2.0
//
// Requests written by hand, and one way to look at what the model does with them:
//
//   made_requests program;
//   const auto a = program.allocate(4_MiB);
//   program.free(a);
//   program.heap()            // the layout after the last request
#pragma once

#include <cstdint>

#include "analyzer/model/allocator/what_if.h"

namespace memtrace::test {

inline constexpr std::uint64_t operator""_KiB(unsigned long long n) {
  return n << 10;
}
inline constexpr std::uint64_t operator""_MiB(unsigned long long n) {
  return n << 20;
}
inline constexpr std::uint64_t operator""_GiB(unsigned long long n) {
  return n << 30;
}

class made_requests {
 public:
  made_requests() {
    log.streams = {0, 0x1000};
    log.pools = {{}, {0, 1}};
    log.total_bytes = 1_GiB;
  }

  allocator::block_number allocate(std::uint64_t size, std::uint16_t stream = 0,
                                   std::uint16_t pool = 0) {
    const auto number = static_cast<allocator::block_number>(log.blocks());
    log.allocations.push_back(static_cast<std::uint32_t>(log.requests.size()));
    log.addresses.push_back(1);  // given, wherever that was
    add(allocator::action::allocate, size, number, pool, stream);
    return number;
  }
  // As the recorded run did, which had no memory for it.
  allocator::block_number refuse(std::uint64_t size) {
    const auto number = allocate(size);
    log.addresses.back() = 0;
    return number;
  }
  void free(allocator::block_number number) { add(allocator::action::free, 0, number); }
  void free_later(allocator::block_number number) { add(allocator::action::free, 1, number); }
  void complete(allocator::block_number number, bool waited_for = false) {
    add(allocator::action::complete, waited_for ? 1 : 0, number);
  }
  void on_pool(allocator::action what, std::uint16_t pool = 1, std::uint64_t size = 0) {
    add(what, size, 0, pool);
  }
  void empty_cache(std::uint16_t pool = 0) { on_pool(allocator::action::empty_cache, pool); }

  [[nodiscard]] allocator::scenario scenario() const {
    auto under = allocator::as_recorded(log);
    under.options = options;
    return under;
  }
  [[nodiscard]] allocator::outcome replay() const { return allocator::replay(log, scenario()); }
  [[nodiscard]] allocator::layout heap() const {
    allocator::layout found;
    const auto last = static_cast<std::uint32_t>(log.requests.size() - 1);
    allocator::show_layouts(log, scenario(), {last},
                            [&](std::uint32_t, const allocator::layout& now) { found = now; });
    return found;
  }

  allocator::request_log log;
  allocator::settings options;

 private:
  void add(allocator::action what, std::uint64_t size, allocator::block_number number,
           std::uint16_t pool = 0, std::uint16_t stream = 0) {
    log.events.push_back(10 * log.requests.size());
    allocator::request made;
    made.set_what(what);
    made.size = size;
    made.block = number;
    made.stream = stream;
    made.pool = pool & 0xfffu;
    log.requests.push_back(made);
  }
};

}  // namespace memtrace::test
