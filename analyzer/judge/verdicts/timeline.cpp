// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/timeline.h"

namespace memtrace::verdicts {

void timeline::judged(device_timeline& on, std::uint32_t site, const attribution::block_life& block,
                      attribution::category what) {
  if (auto* const page = on.sites.find(site)) {
    page->outlived(block, what, clock_.step_of(block.born_event), clock_.now());
  }
}

void timeline::end_step(std::uint64_t event, std::uint64_t time_ns,
                        const std::function<totals_now(std::uint32_t)>& totals_of) {
  for (auto& [index, device] : devices_) {
    device.whole.end_step(clock_.now(), totals_of(index));
    device.sites.end_step();
  }
  clock_.end_step(event, time_ns);
}

}  // namespace memtrace::verdicts
