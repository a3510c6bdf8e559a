// SPDX-License-Identifier: Apache-2.0
//
// One way to count time, and what every device and call site held in it: the steps of the run, or
// the calls of one episode.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "analyzer/judge/verdicts/device_series.h"
#include "analyzer/judge/verdicts/site_history.h"
#include "analyzer/trace/reader/ids.h"

namespace memtrace::verdicts {

// Optimizers or models that take turns come in rounds: a round begins with whichever was in the one
// before already.
//
//   D G D G D G        D D D G D D D G
//   └─┘ └─┘ └─┘        │ │ └─┘ │ │ └─┘

class rounds {
 public:
  // Its turn. `alone`: it begins a round in any case.
  [[nodiscard]] bool begins(trace::object_id one, bool alone = false) {
    const bool again = std::ranges::find(round_, one) != round_.end();
    const bool fresh = round_.empty() || again || alone || round_.size() >= most;
    if (fresh) round_.clear();
    round_.push_back(one);
    return fresh;
  }

 private:
  static constexpr std::size_t most = 64;
  std::vector<trace::object_id> round_;
};

// The steps of a run as they pass: where each ended, so that the step of a block's birth can be
// told when it dies. Eight bytes a step, and one time.
//
// Where several optimizers take turns, a step ends with the first of each round: always the same
// one, so that what is live is comparable. One that was never seen before, after some rounds
// without it, begins a round: mostly it is another one's successor.

class step_clock {
 public:
  // Whether a step ends with this optimizer, which has stepped.
  [[nodiscard]] bool begins_round(trace::object_id optimizer);
  void end_step(std::uint64_t event, std::uint64_t time_ns);

  [[nodiscard]] std::uint64_t now() const { return ends_.size(); }  // from 0; = steps that ended
  // Whether a block that was made at this event was alive when a step ended.
  [[nodiscard]] bool crossed(std::uint64_t born) const {
    return !ends_.empty() && born < ends_.back();
  }
  [[nodiscard]] std::uint64_t step_of(std::uint64_t event) const {
    if (!crossed(event)) return now();
    return static_cast<std::uint64_t>(std::ranges::upper_bound(ends_, event) - ends_.begin());
  }
  // Mean over the steps but the first; 0: not known.
  [[nodiscard]] double ns_per_step() const;

 private:
  std::vector<std::uint64_t> ends_;  // events, ascending
  std::uint64_t first_end_ns_ = 0;
  std::uint64_t last_end_ns_ = 0;
  rounds optimizers_;
  std::set<trace::object_id> known_;
};

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
