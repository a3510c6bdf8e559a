// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/segment_makers.h"

#include <algorithm>
#include <functional>

namespace memtrace::verdicts {

void segment_makers::note(std::uint32_t site, const attribution::block_life& block,
                          std::uint64_t bytes) {
  auto& made = by_site_[site];
  made.site = site;
  made.stack = block.stack;
  made.forward = block.scope.forward;
  made.born_in = block.born.during;
  made.bytes += bytes;
  ++made.blocks;
}

std::vector<culprit> segment_makers::culprits(double bytes_per_step) const {
  std::vector<culprit> found;
  double all = 0;
  for (const auto& [site, made] : by_site_) {
    found.push_back(made);
    all += static_cast<double>(made.bytes);
  }
  for (auto& one : found) {
    one.share = static_cast<double>(one.bytes) / all;
    one.bytes_per_step = one.share * bytes_per_step;
  }
  std::ranges::stable_sort(found, std::greater(), &culprit::bytes);
  return found;
}

}  // namespace memtrace::verdicts
