// SPDX-License-Identifier: Apache-2.0
//
// The free pieces of a layout, each with the reason why it could not serve a request; the small
// blocks that keep some of them from being whole segments; and what later requests made of them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/judge/fragmentation/diagnosis.h"
#include "analyzer/judge/fragmentation/live_bytes.h"
#include "analyzer/judge/fragmentation/segment_history.h"
#include "analyzer/model/allocator/layout.h"
#include "analyzer/model/allocator/request_log.h"

namespace memtrace::fragmentation {

// Where a request looks: only free memory of the same stream, pool and size class could serve it.
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
  std::uint64_t used_again = 0;  // bytes: see mark_used_again
  [[nodiscard]] std::uint64_t end() const { return address + bytes; }
};

using is_long_lived = std::function<bool(std::uint32_t block_number)>;

// A segment of which at most this part is in use, by long-lived blocks among others, is pinned by
// them: most of it would be free without.
inline constexpr std::uint64_t pinned_share = 4;  // a quarter

// By index in request_log::pools: whether CUDA graphs work in it.
using replayed_pools = std::vector<bool>;

// Ascending addresses; all bytes that are reserved, not allocated, and not what graphs need.
[[nodiscard]] std::vector<piece> pieces_of(const allocator::layout& heap, const viewpoint& from,
                                           const is_long_lived& long_lived,
                                           const replayed_pools& replayed = {});

// What of it no block uses, but replays of CUDA graphs need.
[[nodiscard]] std::uint64_t graph_pools_of(const allocator::layout& heap,
                                           const replayed_pools& replayed);

[[nodiscard]] bytes_by_reason sum_of(const std::vector<piece>& pieces);
[[nodiscard]] bytes_by_reason used_again_of(const std::vector<piece>& pieces);

// Free bytes that `from` could have had, in all and in one piece. Expandable segments can also
// grow, which is no free memory.
struct free_for {
  std::uint64_t total = 0;
  std::uint64_t largest = 0;
};
[[nodiscard]] free_for free_memory_for(const allocator::layout& heap, const viewpoint& from);

// Small blocks that live on when what was around them is gone: whether a block outlives the step that made it; where no steps are known, a sixteenth of all
// requests.
class long_lives {
 public:
  long_lives(const allocator::request_log& log, const live_bytes& lives,
             const std::vector<std::uint32_t>& step_ends)
      : log_(log), lives_(lives), step_ends_(step_ends) {}
  [[nodiscard]] bool operator()(allocator::block_number block) const;

 private:
  const allocator::request_log& log_;
  const live_bytes& lives_;
  const std::vector<std::uint32_t>& step_ends_;
};

// The free bytes of each pinned segment are shared out among its long-lived blocks, the same to
// each: the sites add up to what `pieces` says of survivors, but for those beyond the largest 64.
[[nodiscard]] std::vector<pinning_site> pinning_sites(const std::vector<piece>& pieces,
                                                      const allocator::layout& heap,
                                                      const long_lives& long_lived,
                                                      const blocks::evidence& of);

// By the recorded addresses of the requests after the moment, in one pass over them. Fills in piece::used_again: bytes that served later requests as they were, from the start of the
// piece to the end of the last allocation inside of it, before one reached over its borders (which
// needed it to merge with its neighbours) or its memory went back to the driver.
void mark_used_again(std::vector<piece>& pieces, const allocator::request_log& log,
                     const device_history& history, std::uint32_t request);

// By the requests before the moment, in one pass over them: cuts from each piece what no request has used since its segment was got, and calls that
// never_used. Only of segments that the request could have used and that are not expandable: the
// others are not for it anyway.
[[nodiscard]] std::vector<piece> cut_never_used(const std::vector<piece>& pieces,
                                                const allocator::layout& heap,
                                                const allocator::request_log& log,
                                                const device_history& history,
                                                std::uint32_t request);

}  // namespace memtrace::fragmentation
