// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/try_each.h"

#include "analyzer/model/allocator/side_by_side.h"

namespace memtrace::allocator {

std::vector<tried_scenario> try_each(const request_log& log, const std::vector<scenario>& scenarios,
                                     std::uint64_t most, std::uint64_t step) {
  std::vector<tried_scenario> tried(scenarios.size());
  side_by_side(scenarios.size(), [&](std::size_t i) {
    tried[i].range = replay_all_policies(log, scenarios[i]);
    tried[i].fits = find_smallest_fit(log, scenarios[i], most, step);
  });
  return tried;
}

}  // namespace memtrace::allocator
