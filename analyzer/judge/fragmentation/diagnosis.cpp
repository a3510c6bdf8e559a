// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/fragmentation/diagnosis.h"
#include "analyzer/model/allocator/settings.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::fragmentation {

namespace {

using text::format_bytes;

// Less than this is what a healthy program shows: of the peak reserved, and in bytes, and of the
// device.
constexpr std::uint64_t least_part = 10;
constexpr std::uint64_t least_bytes = 64 * allocator::mebibyte;
constexpr std::uint64_t least_part_of_device = 100;

[[nodiscard]] reason largest_of(const bytes_by_reason& unused) {
  const auto largest = std::ranges::max_element(unused.bytes);
  return static_cast<reason>(largest - unused.bytes.begin());
}

[[nodiscard]] cause cause_of(const explained_moment& peak) {
  const auto largest = largest_of(peak.at.unused);
  switch (largest) {
    case reason::pending:
      return cause::pending_frees;
    case reason::other_pools:
      return cause::private_pools;
    case reason::other_streams:
      return cause::other_streams;
    case reason::small_pool:
      return cause::small_pool;
    case reason::expandable_tails:
      return cause::expandable_tails;
    case reason::never_used:
      return cause::segment_rounding;
    case reason::empty_segments:
      return peak.used_again[largest] >= peak.at.unused[largest] / 2 ? cause::changing_requests
                                                                     : cause::growing_requests;
    case reason::survivors:
      return cause::survivors;
    case reason::split:
      return cause::split;
  }
  return cause::unknown;
}

[[nodiscard]] bool ran_out_blocked(const diagnosis& found) {
  return found.out_of_memory && !found.blocked.largest.empty() &&
         found.blocked.largest.front().out_of_memory;
}

// 3.1 GiB of it are …
[[nodiscard]] std::string what_it_is(const diagnosis& found, const explained_moment& peak) {
  const auto largest = largest_of(peak.at.unused);
  const auto request = format_bytes(peak.request);
  const auto bytes = format_bytes(peak.at.unused[largest]);
  const bool fits = peak.largest_piece >= peak.request;
  switch (found.why) {
    case cause::growing_requests:
      return fmt::format("{} are whole segments{}, and most of it was never used again", bytes,
                         fits ? "" : fmt::format(", each too small for the {} asked for", request));
    case cause::changing_requests:
      return fmt::format("{} are whole segments that requests of other sizes use again{}", bytes,
                         fits ? "" : fmt::format("; none could serve the {} asked for", request));
    case cause::survivors:
      return fmt::format("{} are free in segments that a few small long-lived blocks keep", bytes);
    case cause::split:
      return fmt::format(
          "{} are pieces between blocks in use, the largest {}, when {} were asked "
          "for",
          bytes, format_bytes(peak.largest_piece), request);
    default:
      return fmt::format("{} are {}", bytes, words_of(largest));
  }
}

}  // namespace

const char* name_of(reason why) {
  switch (why) {
    case reason::pending:
      return "pending_frees";
    case reason::other_pools:
      return "private_pools";
    case reason::other_streams:
      return "other_streams";
    case reason::small_pool:
      return "small_pool";
    case reason::expandable_tails:
      return "expandable_tails";
    case reason::never_used:
      return "segment_rounding";
    case reason::empty_segments:
      return "empty_segments";
    case reason::survivors:
      return "survivors";
    case reason::split:
      return "split";
  }
  return "split";
}

const char* words_of(reason why) {
  switch (why) {
    case reason::pending:
      return "freed, but a stream may still use it (record_stream)";
    case reason::other_pools:
      return "cached in another pool (MemPool, a CUDA graph that is gone)";
    case reason::other_streams:
      return "cached for other streams";
    case reason::small_pool:
      return "free in segments of 2 MiB, for requests up to 1 MiB";
    case reason::expandable_tails:
      return "mapped behind the last blocks of expandable segments";
    case reason::never_used:
      return "the rounding of segments, never used";
    case reason::empty_segments:
      return "whole segments with nothing in them";
    case reason::survivors:
      return "free in segments that small long-lived blocks keep";
    case reason::split:
      return "pieces between blocks in use";
  }
  return "";
}

const char* words_of(cause why) {
  switch (why) {
    case cause::none:
      return "none";
    case cause::unknown:
      return "not known";
    case cause::growing_requests:
      return "requests grow, so that no segment is large enough for a later one";
    case cause::changing_requests:
      return "requests change their sizes, so that segments for the other sizes lie idle";
    case cause::survivors:
      return "small long-lived blocks keep segments that are otherwise free";
    case cause::split:
      return "free memory lies in pieces between blocks in use";
    case cause::other_streams:
      return "free memory belongs to other streams";
    case cause::pending_frees:
      return "freed memory waits for a stream that may still use it";
    case cause::private_pools:
      return "free memory belongs to private pools";
    case cause::small_pool:
      return "free memory lies in segments that serve small requests only";
    case cause::segment_rounding:
      return "segments are larger than what was asked for";
    case cause::expandable_tails:
      return "expandable segments keep what they no longer use at their ends";
  }
  return "not known";
}

std::uint64_t bytes_by_reason::total() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

std::uint64_t excess_of(const diagnosis& found) {
  auto needed = found.lower_bound;
  // Segments of a graph stay as they are: what lies unused between its blocks is not to be had.
  if (found.at_peak && found.at_peak->at.graph_pools != 0) {
    needed = std::max(needed, found.at_peak->at.allocated + found.at_peak->at.graph_pools);
  }
  return found.peak_reserved - std::min(found.peak_reserved, needed);
}

void conclude(diagnosis& found, std::uint64_t capacity) {
  const auto excess = excess_of(found);
  const bool much = excess >= found.peak_reserved / least_part && excess >= least_bytes &&
                    excess >= capacity / least_part_of_device;
  const bool blocked = ran_out_blocked(found);
  found.matters = found.inexact.empty() && (much || blocked);
  found.why = cause::unknown;
  if (!found.at_peak) return;
  found.why = cause::none;
  if (!much && !blocked) return;
  const auto& moment = blocked ? *found.out_of_memory : *found.at_peak;
  found.why = cause_of(moment);
  found.summary =
      fmt::format("Of {} reserved {} {} are unused: {}.", format_bytes(moment.at.reserved),
                  blocked ? "when memory ran out" : "at the peak",
                  format_bytes(moment.at.unused.total()), what_it_is(found, moment));
}

}  // namespace memtrace::fragmentation
