// SPDX-License-Identifier: Apache-2.0
//
// The free pieces of a layout, each with the reason why it could not serve a request.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/judge/fragmentation/diagnosis.h"
#include "analyzer/model/allocator/layout.h"

namespace memtrace::fragmentation {

// Of the request: only free memory of the same stream, pool and size class could serve it.
struct viewpoint {
  std::uint16_t stream = 0;  // index in request_log::streams
  std::uint16_t pool = 0;    // index in request_log::pools
  bool small = false;
};

struct piece {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  reason why = reason::split;
  std::uint32_t segment = 0;     // index in layout::segments
  std::uint64_t used_again = 0;  // bytes: see later_use.h
  [[nodiscard]] std::uint64_t end() const { return address + bytes; }
};

using is_long_lived = std::function<bool(std::uint32_t block_number)>;

// A segment of which at most this part is in use, by long-lived blocks among others, is pinned by
// them: most of it would be free without.
inline constexpr std::uint64_t pinned_share = 4;  // a quarter

// Ascending addresses; all bytes that are reserved and not allocated.
[[nodiscard]] std::vector<piece> pieces_of(const allocator::layout& heap, const viewpoint& from,
                                           const is_long_lived& long_lived);

[[nodiscard]] bytes_by_reason sum_of(const std::vector<piece>& pieces);
[[nodiscard]] bytes_by_reason used_again_of(const std::vector<piece>& pieces);

// Free bytes that `from` could have had, in all and in one piece. Expandable segments can also
// grow, which is no free memory.
struct free_for {
  std::uint64_t total = 0;
  std::uint64_t largest = 0;
};
[[nodiscard]] free_for free_memory_for(const allocator::layout& heap, const viewpoint& from);

}  // namespace memtrace::fragmentation
