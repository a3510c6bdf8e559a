// SPDX-License-Identifier: Apache-2.0
//
// A moment whose live blocks are wanted, in one pass: the highest so far, and so only known when
// it is over.
//
//   block A  ├──────────┤          dies after the moment, was born before it: kept when it dies
//   block B      ├────────────►    alive at the end: kept then
//   block C  ├──┤ ·                was dead by then: never seen again
//   block D       · ├──────┤       born later: not kept
//            moment ┘              (a higher moment forgets what was kept)
//
// O(1) a death; memory in proportion to the blocks alive at the moment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyzer/model/attribution/kept_block.h"
#include "analyzer/model/replay/residency.h"

namespace memtrace::attribution {

// The blocks of which something is asleep at a moment: address and bytes asleep, ascending.
using sleepers = std::vector<replay::sleep_change>;

struct watched_moment {
  std::uint64_t event = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t total = 0;  // allocated, as the allocator says
  phase during = phase::other;
  std::uint32_t backwards_ended = 0;
  std::shared_ptr<const sleepers> asleep;  // null: nothing; shared by moments between two changes
  [[nodiscard]] std::uint64_t asleep_of(std::uint64_t address) const;
};

inline std::uint64_t watched_moment::asleep_of(std::uint64_t address) const {
  if (asleep == nullptr) return 0;
  const auto found = std::ranges::lower_bound(*asleep, address, {}, &replay::sleep_change::address);
  return found == asleep->end() || found->address != address ? 0 : found->asleep;
}

class watch {
 public:
  void set(const watched_moment& now) {
    moment_ = now;
    is_set_ = true;
    kept_.clear();
  }
  [[nodiscard]] bool is_set() const { return is_set_; }
  [[nodiscard]] const watched_moment& moment() const { return moment_; }

  // To be asked about blocks that die now or are alive at the end.
  [[nodiscard]] bool wants(const block_life& block) const {
    return is_set_ && block.born_event <= moment_.event;
  }
  void keep(const kept_block& block) {
    kept_.push_back(block);
    auto& kept = kept_.back();
    kept.asleep = std::min(kept.bytes, moment_.asleep_of(block.address));
    kept.bytes -= kept.asleep;
  }
  [[nodiscard]] std::vector<kept_block>& kept() { return kept_; }
  [[nodiscard]] const std::vector<kept_block>& kept() const { return kept_; }

 private:
  bool is_set_ = false;
  watched_moment moment_;
  std::vector<kept_block> kept_;
};

}  // namespace memtrace::attribution
