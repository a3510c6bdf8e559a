// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/timeline.h"

namespace memtrace::verdicts {

namespace {

constexpr std::size_t most_known = 4096;
constexpr std::size_t first_rounds = 3;  // in which all that take turns have been met

}  // namespace

bool step_clock::begins_round(trace::object_id optimizer) {
  const bool is_new = known_.size() < most_known && known_.insert(optimizer).second;
  return optimizers_.begins(optimizer, is_new && ends_.size() >= first_rounds);
}

void step_clock::end_step(std::uint64_t event, std::uint64_t time_ns) {
  if (ends_.empty()) first_end_ns_ = time_ns;
  last_end_ns_ = time_ns;
  ends_.push_back(event);
}

double step_clock::ns_per_step() const {
  if (ends_.size() < 2) return 0;
  return static_cast<double>(last_end_ns_ - first_end_ns_) / static_cast<double>(ends_.size() - 1);
}

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
