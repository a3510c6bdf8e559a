// SPDX-License-Identifier: Apache-2.0
//
// Requests that enough free memory of their stream and pool was there for, but no block of it was
// large enough. Looked for where memory was reserved anew, or ran out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/judge/fragmentation/diagnosis.h"
#include "analyzer/judge/fragmentation/pieces.h"
#include "analyzer/judge/fragmentation/segment_history.h"
#include "analyzer/model/allocator/layout.h"

namespace memtrace::fragmentation {

// The request that an event reported; `never` (live_bytes.h): none.
[[nodiscard]] std::uint32_t request_of_event(const allocator::request_log& log,
                                             std::uint64_t event);

// Who made a request.
struct requester {
  std::vector<code::source_frame> frames;  // innermost first; empty: no Python ran
  std::string place;                       // in words; in backward its forward line
};

[[nodiscard]] requester requester_of(const blocks::evidence& of, std::uint32_t request);

// Its stream, pool and size class.
[[nodiscard]] viewpoint viewpoint_of(const allocator::request_log& log, std::uint32_t request);

class blocked_search {
 public:
  // At most `most` requests: those that ran out of memory, then those that reserved most.
  blocked_search(const blocks::evidence& of, const device_history& history, std::size_t most);

  // Requests after which the layout is wanted: each is the one before a candidate.
  [[nodiscard]] const std::vector<std::uint32_t>& moments() const { return moments_; }
  void look(std::uint32_t request, const allocator::layout& heap);
  [[nodiscard]] blocked_requests finish();

 private:
  const blocks::evidence& of_;
  std::map<std::uint32_t, reserving_request> candidates_;  // by request
  std::vector<std::uint32_t> moments_;
  blocked_requests found_;
};

}  // namespace memtrace::fragmentation
