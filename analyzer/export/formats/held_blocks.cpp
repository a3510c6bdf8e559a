// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/held_blocks.h"

#include <algorithm>
#include <limits>

namespace memtrace::exporting {

// The moments that lie before this event.
void held_blocks::reach(std::uint32_t device, std::uint64_t before) {
  const auto found = watched_.find(device);
  if (found == watched_.end()) return;
  auto& events = found->second;
  while (!events.empty() && *events.begin() < before) {
    const auto known = latest_.find(device);
    if (known != latest_.end()) {
      auto at = known->second;
      at.event = *events.begin();
      reached_(at, living(device));
    }
    events.erase(events.begin());
  }
}

void held_blocks::happened(const allocator_event& event, const block* one, const moment& now) {
  reach(event.device, event.number);
  if (one != nullptr && event.kind == format::kind::alloc) {
    live_[one->device].insert(one->address) = *one;
  } else if (one != nullptr) {
    live_[one->device].erase(one->address);
  }
  latest_[event.device] = now;
}

void held_blocks::became(const block& one, const moment& now) {
  reach(one.device, now.event);
  live_[one.device].insert(one.address) = one;
  latest_[one.device] = now;
}

void held_blocks::end() {
  for (const auto& [device, events] : watched_) {
    reach(device, std::numeric_limits<std::uint64_t>::max());
  }
  watched_.clear();
  live_.clear();
  latest_.clear();
}

std::vector<block> held_blocks::living(std::uint32_t device) const {
  std::vector<block> found;
  const auto known = live_.find(device);
  if (known == live_.end()) return found;
  found.reserve(known->second.size());
  known->second.for_each([&](std::uint64_t, const block& one) { found.push_back(one); });
  std::ranges::sort(found, {}, &block::serial);
  return found;
}

}  // namespace memtrace::exporting
