// SPDX-License-Identifier: Apache-2.0
//
// The histories of a device's call sites: of each, the least bytes of every step, and in how many
// steps its live blocks were made. Sites that only stream, and sites that do not change, cost
// nothing at a step's end.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/judge/verdicts/site_history.h"

namespace memtrace::verdicts {

class site_book {
 public:
  // Before a change of what the site holds: its history. `before`: what it holds.
  [[nodiscard]] site_history& touch(std::uint32_t site, const site_holding& before) {
    auto& page = page_of(site, before);
    if (page.stamp != steps_ + 1) {
      page.stamp = steps_ + 1;
      page.least = before.bytes;
      touched_.push_back(site);
    }
    return page;
  }
  void end_step();

  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  // Of sites that have changed; in the order in which they first did.
  [[nodiscard]] const std::vector<site_history>& pages() const { return pages_; }
  // Null: it has not changed.
  [[nodiscard]] site_history* find(std::uint32_t site) {
    return site < places_.size() && places_[site] != none ? &pages_[places_[site]] : nullptr;
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  [[nodiscard]] site_history& page_of(std::uint32_t site, const site_holding& before);

  std::uint64_t steps_ = 0;
  std::vector<std::uint32_t> places_;  // by site: in pages_
  std::vector<site_history> pages_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace memtrace::verdicts
