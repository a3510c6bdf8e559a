// SPDX-License-Identifier: Apache-2.0
//
// Whether anything has become known that a recording is to be told at its next event. Whoever has
// something to tell counts up; an event compares one number instead of asking everybody.
#pragma once

#include <atomic>
#include <cstdint>

namespace memtrace {

namespace detail {
inline constinit std::atomic<std::uint32_t> news_count{1};
}

// After what there is to tell can be seen by other threads.
inline void something_is_new() noexcept {
  detail::news_count.fetch_add(1, std::memory_order_release);
}

[[nodiscard]] inline std::uint32_t news_so_far() noexcept {
  return detail::news_count.load(std::memory_order_acquire);
}

}  // namespace memtrace
