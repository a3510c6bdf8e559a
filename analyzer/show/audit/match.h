// SPDX-License-Identifier: Apache-2.0
//
// The sightings of the two witnesses, one by one. An address holds one allocation at a time, so
// that for each address both tell the same allocations, and the same releases, in the same order —
// but for threads that were overtaken: CUPTI's time is that of the beginning of a call, so that an
// allocation may seem to precede the release that made room for it. Hence allocations and releases
// are matched apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "analyzer/show/audit/sighting.h"

namespace memtrace::audit {

struct size_difference {
  std::size_t ours;    // index into the hooks' sightings
  std::size_t theirs;  // index into CUPTI's
};

struct matches {
  std::uint64_t allocations = 0;  // seen by both
  std::uint64_t releases = 0;
  std::uint64_t bytes = 0;                   // of those allocations
  std::vector<size_difference> other_size;   // seen by both, with another size
  std::vector<std::size_t> missed_by_cupti;  // indices into `ours`, in order of time
  std::vector<std::size_t> missed_by_hooks;  // indices into `theirs`, in order of time
};

// When both surely were there: what one of them lacks is rather a sighting outside, such as the
// last before a kill.
struct common_time {
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] bool has(const sighting& one) const {
    return one.time_ns >= begin_ns && one.time_ns <= end_ns;
  }
};

// Time: sorting, and then linear.
[[nodiscard]] matches match(const std::vector<sighting>& ours, const std::vector<sighting>& theirs,
                            const common_time& both = {});

}  // namespace memtrace::audit
