// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/site_book.h"

namespace memtrace::verdicts {

site_book::entry& site_book::page_of(std::uint32_t site, std::uint64_t before) {
  if (site >= places_.size()) places_.resize(site + std::size_t{1}, none);
  auto& place = places_[site];
  if (place == none) {
    place = static_cast<std::uint32_t>(pages_.size());
    pages_.push_back({.site = site, .now = before, .series = sparse_series(before)});
  }
  return pages_[place];
}

void site_book::clear() {
  for (const auto& page : pages_) places_[page.site] = none;
  pages_.clear();
  touched_.clear();
  steps_ = 0;
}

std::vector<std::uint32_t> site_book::sites() const {
  std::vector<std::uint32_t> found;
  found.reserve(pages_.size());
  for (const auto& page : pages_) found.push_back(page.site);
  return found;
}

}  // namespace memtrace::verdicts
