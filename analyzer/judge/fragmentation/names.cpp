// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "analyzer/judge/fragmentation/diagnosis.h"

namespace memtrace::fragmentation {

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
      return "cached in private pools (CUDA graphs, MemPool)";
    case reason::other_streams:
      return "cached for other streams";
    case reason::small_pool:
      return "free in segments of 2 MiB, for requests up to 1 MiB";
    case reason::expandable_tails:
      return "mapped behind the last blocks of expandable segments";
    case reason::never_used:
      return "the rounding of segments, never used";
    case reason::empty_segments:
      return "whole segments, each too small for the request";
    case reason::survivors:
      return "free in segments that small long-lived blocks keep";
    case reason::split:
      return "pieces between blocks in use";
  }
  return "";
}

const char* name_of(cause why) {
  switch (why) {
    case cause::none:
      return "none";
    case cause::unknown:
      return "unknown";
    case cause::growing_requests:
      return "growing_requests";
    case cause::changing_requests:
      return "changing_requests";
    case cause::survivors:
      return "survivors";
    case cause::split:
      return "split";
    case cause::other_streams:
      return "other_streams";
    case cause::pending_frees:
      return "pending_frees";
    case cause::private_pools:
      return "private_pools";
    case cause::small_pool:
      return "small_pool";
    case cause::segment_rounding:
      return "segment_rounding";
    case cause::expandable_tails:
      return "expandable_tails";
  }
  return "unknown";
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

}  // namespace memtrace::fragmentation
