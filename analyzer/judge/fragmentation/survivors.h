// SPDX-License-Identifier: Apache-2.0
//
// Small blocks that live on when what was around them is gone: which they are, and which lines of
// code made those that keep segments otherwise empty.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/judge/fragmentation/live_bytes.h"
#include "analyzer/judge/fragmentation/pieces.h"

namespace memtrace::fragmentation {

// Whether a block outlives the step that made it; where no steps are known, a sixteenth of all
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

}  // namespace memtrace::fragmentation
