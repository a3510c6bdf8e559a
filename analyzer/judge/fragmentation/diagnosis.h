// SPDX-License-Identifier: Apache-2.0
//
// Why PyTorch reserves more of a device than a program has allocated. docs/fragmentation.md has
// every definition with its formula. Plain values; sizes are bytes, times nanoseconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/text/enum_name.h"
#include "analyzer/model/attribution/terms.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::allocator {
struct layout;
}
namespace memtrace::blocks {
struct evidence;
}
namespace memtrace::replay {
class replayer;
}

namespace memtrace::fragmentation {

class segment_history;

// Why reserved memory is not allocated, as seen by the request that reserved the latest large
// segment: the first that applies, so that the parts of a moment add up to reserved - allocated. What
// replays of CUDA graphs need (replay::graph_pools) is in use, and in none of them.
enum class reason : std::uint8_t {
  pending,           // freed, but a stream may still use it (record_stream)
  other_pools,       // cached in a private pool that no graph works in, or in another than its own
  other_streams,     // cached for another stream
  small_pool,        // free in segments of 2 MiB, which serve requests up to 1 MiB
  expandable_tails,  // mapped behind the last block of an expandable segment
  never_used,        // what a segment has beyond the request that it was got for
  empty_segments,    // whole segments, each smaller than the request
  survivors,         // segments that hold little but long-lived blocks: see pinning_site
  split,             // pieces between blocks in use
};
inline constexpr std::size_t reasons = 9;
[[nodiscard]] const char* name_of(reason why);   // for the JSON
[[nodiscard]] const char* words_of(reason why);  // for people, after an amount

struct bytes_by_reason {
  std::array<std::uint64_t, reasons> bytes{};
  [[nodiscard]] std::uint64_t& operator[](reason why) {
    return bytes[static_cast<std::size_t>(why)];
  }
  [[nodiscard]] std::uint64_t operator[](reason why) const {
    return bytes[static_cast<std::size_t>(why)];
  }
  [[nodiscard]] std::uint64_t total() const;
};

// The bytes that blocks have beyond what was asked for: adds up to allocated - requested.
struct rounding {
  std::uint64_t multiples = 0;  // to the next 512 bytes, or to the next division of a power of two
  std::uint64_t tails = 0;      // remainders that the allocator does not split off
};

struct moment {
  std::uint64_t event = 0;
  std::uint64_t reserved = 0;
  std::uint64_t allocated = 0;
  std::uint64_t graph_pools = 0;  // in no block, but replays of CUDA graphs need it
  bytes_by_reason unused;         // adds up to reserved - allocated - graph_pools
};

// The moment whose parts are explained in full.
struct explained_moment {
  moment at;
  bytes_by_reason used_again;   // of `unused`: served a later request as it was, without merging
  std::uint64_t requested = 0;  // of what is allocated, before rounding
  rounding inside;              // of allocated - requested
  std::uint64_t request = 0;    // that reserved the latest large segment, bytes, rounded
  std::vector<code::source_frame> frames;  // of that request
  std::string place;                       // the same in words; in backward its forward line
  std::uint64_t largest_piece = 0;         // free, of its stream, pool and size class
};

// A line whose long-lived blocks keep segments that are otherwise empty.
struct pinning_site {
  std::vector<code::source_frame> frames;
  attribution::category what = attribution::category::unknown;
  std::uint64_t bytes = 0;  // free memory that they pin
  std::uint64_t blocks = 0;
  std::uint64_t block_bytes = 0;  // their own
};

// Free memory of the request's stream and pool would have sufficed, but no block of it.
struct blocked_request {
  std::uint64_t event = 0;
  std::uint64_t bytes = 0;  // rounded
  std::uint64_t free = 0;   // of its stream, pool and size class, in all
  std::uint64_t largest = 0;
  bool out_of_memory = false;
  std::vector<code::source_frame> frames;
  std::string place;  // in words; in backward its forward line
};

struct blocked_requests {
  std::uint64_t looked_at = 0;  // requests that needed a new segment or ran out of memory
  std::uint64_t of = 0;         // so many there were; the largest are looked at
  std::uint64_t count = 0;
  std::uint64_t got = 0;                 // reserved anew for them
  std::vector<blocked_request> largest;  // a few, most bytes first, out of memory before all
};

// Cached memory given back to the driver inside of allocations.
struct pressure {
  std::uint64_t retries = 0;      // after the driver, or the memory fraction, had refused
  std::uint64_t retry_ns = 0;     // from the refusal to the allocation, or to the error
  std::uint64_t collections = 0;  // without a refusal: garbage_collection_threshold
  std::uint64_t collection_ns = 0;
  std::uint64_t segments_freed = 0;  // in both
  std::uint64_t bytes_freed = 0;
  std::uint64_t driver_calls = 0;  // of all: segments and pages got and given back, and refusals
  std::uint64_t segments_got = 0;
  std::uint64_t bytes_got = 0;
};

// Segments and blocks at one moment, in address order.
struct mapped_segment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;  // as cudaStream_t
  bool private_pool = false;
  bool small = false;
  bool expandable = false;
  // "a2048@3 c512 …": state, size in units of 512 bytes, and of allocated blocks a place in
  // heap_map::sites. a allocated, p pending, c cached, u unmapped.
  std::string blocks;
};

struct heap_map {
  std::string when;  // "peak_reserved", "out_of_memory"
  std::uint64_t event = 0;
  std::vector<std::string> sites;  // lines of code; of the most bytes
  std::vector<mapped_segment> segments;
  bool merged = false;  // neighbouring blocks of one state are drawn as one
  std::uint64_t segments_left_out = 0;
  std::uint64_t bytes_left_out = 0;
};

enum class cause : std::uint8_t {
  none,               // no allocator could do with much less
  unknown,            // the layout is not known
  growing_requests,   // whole segments that later requests had outgrown
  changing_requests,  // whole segments that are used again, by requests of other sizes
  survivors,
  split,
  other_streams,
  pending_frees,
  private_pools,
  small_pool,
  segment_rounding,
  expandable_tails,
};
[[nodiscard]] constexpr std::string_view name_of(cause why) {
  return text::enum_name(why);
}
// A clause that says why so much is reserved.
[[nodiscard]] const char* words_of(cause why);

struct diagnosis {
  std::uint32_t device = 0;
  std::uint64_t peak_reserved = 0;
  std::uint64_t peak_allocated = 0;
  // The most bytes, each block rounded to 512, that were live at once: no allocator needs less. Of a
  // pool that graphs work in, no less than a capture had live there.
  std::uint64_t lower_bound = 0;
  std::uint64_t lower_bound_active = 0;  // with freed blocks that streams still held
  cause why = cause::unknown;
  bool matters = false;  // worth a person's attention
  std::string summary;   // one sentence; empty where `why` is none
  std::string inexact;   // why the layout is not known, or not to be trusted; empty: it is
  std::optional<explained_moment> at_peak;        // of reserved
  std::optional<explained_moment> out_of_memory;  // where it ended the program, else the first
  std::vector<moment> over_time;                  // the fullest moment of each of equal windows
  std::vector<pinning_site> pinning;              // most bytes first
  blocked_requests blocked;
  fragmentation::pressure pressure;
  std::vector<heap_map> maps;
};

// Replays the log once, at the recorded addresses, and looks at the layout at about a thousand
// moments at most. Where the log has doubts, the totals are all there is.
[[nodiscard]] diagnosis diagnose(const blocks::evidence& of, const segment_history& history);

// For a device without a request log; `why`: a sentence.
[[nodiscard]] diagnosis diagnose_totals(std::uint32_t device, const replay::replayer& replayed,
                                        const segment_history& history, std::string why);

// The parts of it.

// One cause, and one sentence, out of all figures: fills in why, matters and summary. `capacity`: of
// the device; 0: not known.
void conclude(diagnosis& found, std::uint64_t capacity);

// The bytes that are reserved beyond what any allocator needs for what the program had not given
// back.
[[nodiscard]] std::uint64_t excess_of(const diagnosis& found);

// A picture of the heap in few words: bounded, whatever the layout.
[[nodiscard]] heap_map draw(const allocator::layout& heap, const blocks::evidence& of,
                            std::string when, std::uint64_t event);
inline constexpr std::size_t most_runs = 4096;  // of blocks, in one map
inline constexpr std::size_t most_map_sites = 64;

}  // namespace memtrace::fragmentation
