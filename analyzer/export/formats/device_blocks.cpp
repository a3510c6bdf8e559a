// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/device_blocks.h"

#include <algorithm>

#include "analyzer/model/attribution/rules.h"

namespace memtrace::exporting {

// Events come in their order.
std::optional<std::uint64_t> device_blocks::step_of(std::uint64_t event) {
  if (steps_ == nullptr) return std::nullopt;
  while (step_ < steps_->steps.size() && steps_->steps[step_].end_event < event) ++step_;
  if (step_ == steps_->steps.size()) return std::nullopt;
  return step_;
}

const block& device_blocks::born(const allocator_event& event, std::uint64_t serial,
                                 std::uint64_t least_bytes) {
  const auto number = born_++;
  auto& made = live_.insert(event.address);
  made = {};
  made.serial = serial;
  made.device = device_;
  made.address = event.address;
  made.bytes = least_bytes;
  made.requested = event.size;
  made.stream = event.stream;
  made.pool = event.pool;
  made.born_event = event.number;
  made.born_ns = event.time_ns;
  made.stack = event.stack;
  made.thread = event.thread;
  made.step = step_of(event.number);
  pending_ = 0;
  if (fates_ != nullptr && number < fates_->kinds.size()) {
    const auto& fate = fates_->of(number);
    made.fate = &fate;
    made.what = fate.what;
    made.how = fate.how;
    made.born_in = fate.born_in;
    made.rule = fate.rule;
    made.module = fate.module;
    const auto& sizes = fates_->sizes;
    if (next_size_ < sizes.size() && sizes[next_size_].first == number) {
      pending_ = sizes[next_size_++].second;
      made.bytes += pending_;
    }
    const auto& until = fates_->until_backward;
    if (next_until_ < until.size() && until[next_until_].first == number) {
      until_backward_[until[next_until_++].second].push_back({event.address, serial});
    }
  }
  held_[made.what] += made.bytes;
  recorded_ += made.bytes;
  return made;
}

std::optional<block> device_blocks::died(std::uint64_t address) {
  const auto* const found = live_.find(address);
  if (found == nullptr) return std::nullopt;
  const auto gone = *found;
  live_.erase(address);
  held_[gone.what] -= gone.bytes - gone.asleep;
  recorded_ -= gone.bytes - gone.asleep;
  return gone;
}

std::vector<std::pair<block, attribution::category>> device_blocks::become(
    std::uint32_t backwards_ended) {
  std::vector<std::pair<block, attribution::category>> changed;
  while (!until_backward_.empty() && until_backward_.begin()->first < backwards_ended) {
    const auto until = until_backward_.begin()->first;
    for (const auto& one : until_backward_.begin()->second) {
      auto* const found = live_.find(one.address);
      if (found == nullptr || found->serial != one.serial) continue;
      const auto before = found->what;
      const auto settled = attribution::at_moment(
          {found->what, found->how, false, found->rule, until}, backwards_ended);
      held_[before] -= found->bytes - found->asleep;
      held_[settled.what] += found->bytes - found->asleep;
      found->what = settled.what;
      found->how = settled.how;
      found->rule = settled.rule;
      changed.emplace_back(*found, before);
    }
    until_backward_.erase(until_backward_.begin());
  }
  std::ranges::sort(changed, {}, [](const auto& one) { return one.first.serial; });
  return changed;
}

void device_blocks::reported(const trace::report_event& report) {
  allocator.on_report(report);
  pending_ = 0;
  follow_sleep();
}

void device_blocks::follow_sleep() {
  for (const auto& [address, bytes] : allocator.sleep_changes()) {
    auto* const found = live_.find(address);
    if (found == nullptr) continue;
    const auto difference = bytes - found->asleep;
    found->asleep = bytes;
    held_[found->what] -= difference;
    recorded_ -= difference;
  }
}

moment device_blocks::now(std::uint64_t event, std::uint64_t time_ns) const {
  moment found;
  found.event = event;
  found.time_ns = time_ns;
  found.device = device_;
  // Where frees were lost there are more blocks than the allocator says.
  found.allocated = std::max(allocator.allocated() + pending_, recorded_);
  found.reserved =
      allocator.segments().reserved() + static_cast<std::uint64_t>(allocator.reserved_difference());
  found.held = held_;
  found.held[attribution::category::unknown] += found.allocated - recorded_;
  return found;
}

void device_blocks::add_living(std::vector<block>& to) const {
  live_.for_each([&](std::uint64_t, const block& one) { to.push_back(one); });
}

}  // namespace memtrace::exporting
