// SPDX-License-Identifier: Apache-2.0
//
// One way to count time, and what every device and call site held in it: the steps of the run, or
// the calls of one episode.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "analyzer/judge/verdicts/device_series.h"
#include "analyzer/judge/verdicts/site_book.h"
#include "analyzer/judge/verdicts/step_clock.h"

namespace memtrace::verdicts {

struct device_timeline {
  explicit device_timeline(std::uint64_t allocated) : whole(allocated) {}
  device_series whole;
  site_book sites;
};

class timeline {
 public:
  // `since`: the event with which it begins.
  explicit timeline(std::uint64_t since = 0) : since_(since) {}

  // The site holds `before`; a block comes, changes its size, or goes.
  void born(device_timeline& on, std::uint32_t site, const site_holding& before,
            std::uint64_t bytes) {
    auto& page = on.sites.touch(site, before);
    page.now = {before.bytes + bytes, before.blocks + 1};
    page.births.born(clock_.now());
  }
  void resized(device_timeline& on, std::uint32_t site, const site_holding& before,
               std::uint64_t difference) {
    auto& page = on.sites.touch(site, before);
    page.now.bytes = before.bytes + difference;
    if (page.now.bytes < page.least) page.least = page.now.bytes;
  }
  void died(device_timeline& on, std::uint32_t site, const site_holding& before,
            std::uint64_t bytes, std::uint64_t born_event) {
    auto& page = on.sites.touch(site, before);
    page.now = {before.bytes - bytes, before.blocks - 1};
    if (page.now.bytes < page.least) page.least = page.now.bytes;
    if (born_event >= since_) page.births.died(clock_.step_of(born_event));
  }
  // A block that `outlived` said yes of died or the track ended.
  void judged(device_timeline& on, std::uint32_t site, const attribution::block_life& block,
              attribution::category what);
  [[nodiscard]] bool outlived(std::uint64_t born_event) const {
    return born_event >= since_ && clock_.crossed(born_event);
  }
  void end_step(std::uint64_t event, std::uint64_t time_ns,
                const std::function<totals_now(std::uint32_t device)>& totals_of);

  [[nodiscard]] device_timeline& device(std::uint32_t index, std::uint64_t allocated_now) {
    return devices_.try_emplace(index, allocated_now).first->second;
  }
  [[nodiscard]] const std::map<std::uint32_t, device_timeline>& devices() const { return devices_; }
  [[nodiscard]] step_clock& clock() { return clock_; }
  [[nodiscard]] const step_clock& clock() const { return clock_; }

 private:
  std::uint64_t since_;
  step_clock clock_;
  std::map<std::uint32_t, device_timeline> devices_;
};

}  // namespace memtrace::verdicts
