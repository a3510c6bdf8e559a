// SPDX-License-Identifier: Apache-2.0
//
// Keeps the peaks of an outcome up to date during a replay.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analyzer/model/allocator/model.h"
#include "analyzer/model/allocator/what_if.h"

namespace memtrace::allocator {

class peak_watch {
 public:
  // Both must outlive it.
  peak_watch(const request_log& log, outcome& into) : log_(log), into_(into) {}

  // After an allocation: nothing else makes anything higher.
  void look(const model& now, std::size_t request) const {
    see(into_.allocated, now.allocated(), request);
    see(into_.active, now.active(), request);
    see(into_.reserved, now.most_reserved(), request);
  }
  [[nodiscard]] std::uint64_t event_of(std::size_t request) const {
    return request < log_.events.size() ? log_.events[request] : 0;
  }

 private:
  void see(peak& known, std::uint64_t bytes, std::size_t request) const {
    if (bytes <= known.bytes) [[likely]]
      return;
    known = {bytes, static_cast<std::uint32_t>(request), event_of(request)};
  }

  const request_log& log_;
  outcome& into_;
};

}  // namespace memtrace::allocator
