// SPDX-License-Identifier: Apache-2.0
//
// One value a step for each call site of a device: the least that it held during the step. Sites
// that only stream, and sites that do not change, cost nothing at a step's end.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/verdicts/sparse_series.h"

namespace memtrace::verdicts {

class site_book {
 public:
  // The site held `before` and holds `after`, bytes.
  void change(std::uint32_t site, std::uint64_t before, std::uint64_t after) {
    auto& page = page_of(site, before);
    if (page.stamp != steps_ + 1) {
      page.stamp = steps_ + 1;
      page.least = before;
      touched_.push_back(site);
    }
    if (after < page.least) page.least = after;
    page.now = after;
  }
  // A step ends. Calls `stayed` with each site that was touched and holds memory, or did when the
  // step began.
  template <class Function>
  void close(Function&& stayed) {
    for (const auto site : touched_) {
      auto& page = pages_[places_[site]];
      const bool crosses = page.now != 0 || page.series.latest() != 0;
      page.series.set(steps_, page.least, page.now);
      if (crosses) stayed(site);
    }
    touched_.clear();
    ++steps_;
  }
  void clear();

  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  // Null: it has not changed since the first step.
  [[nodiscard]] const sparse_series* series(std::uint32_t site) const {
    if (site >= places_.size() || places_[site] == none) return nullptr;
    return &pages_[places_[site]].series;
  }
  // Those that have changed.
  [[nodiscard]] std::vector<std::uint32_t> sites() const;

 private:
  struct entry {
    std::uint32_t site = 0;
    std::uint64_t stamp = 0;  // the step in which it was touched last, from 1
    std::uint64_t least = 0;
    std::uint64_t now = 0;
    sparse_series series;
  };
  static constexpr std::uint32_t none = UINT32_MAX;

  [[nodiscard]] entry& page_of(std::uint32_t site, std::uint64_t before);

  std::uint64_t steps_ = 0;
  std::vector<std::uint32_t> places_;  // by site: in pages_
  std::vector<entry> pages_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace memtrace::verdicts
