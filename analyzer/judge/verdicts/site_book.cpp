// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/site_book.h"

namespace memtrace::verdicts {

site_history& site_book::page_of(std::uint32_t site, const site_holding& before) {
  if (site >= places_.size()) places_.resize(site + std::size_t{1}, none);
  auto& place = places_[site];
  if (place == none) {
    place = static_cast<std::uint32_t>(pages_.size());
    auto& page = pages_.emplace_back();
    page.site = site;
    page.now = before;
    page.series = sparse_series(before.bytes);
  }
  return pages_[place];
}

void site_book::end_step() {
  for (const auto site : touched_) {
    auto& page = pages_[places_[site]];
    const bool crosses = page.now.bytes != 0 || page.series.latest() != 0;
    if (!crosses) continue;  // it streams
    page.series.set(steps_, page.least, page.now.bytes);
    page.end_step(steps_ + 1);
  }
  touched_.clear();
  ++steps_;
}

}  // namespace memtrace::verdicts
