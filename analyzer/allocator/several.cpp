// SPDX-License-Identifier: Apache-2.0
#include "analyzer/allocator/several.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>

namespace memtrace::allocator {

std::vector<tried_scenario> try_each(const request_log& log, const std::vector<scenario>& scenarios,
                                     std::uint64_t most, std::uint64_t step) {
  std::vector<tried_scenario> tried(scenarios.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (auto i = next++; i < scenarios.size(); i = next++) {
      tried[i].range = replay_all_policies(log, scenarios[i]);
      tried[i].fits = find_smallest_fit(log, scenarios[i], most, step);
    }
  };
  const auto threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 2, 8);
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(threads, scenarios.size()); ++i) others.emplace_back(work);
    work();
  }
  return tried;
}

}  // namespace memtrace::allocator
