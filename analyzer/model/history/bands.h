// SPDX-License-Identifier: Apache-2.0
//
// Stretches of a run that have a name, such as its phases: at most so many, the longest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace memtrace::history {

struct band {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::string name;
};

class longest_bands {
 public:
  explicit longest_bands(std::size_t most) : most_(most) {}

  void add(band one) {
    if (one.end_ns <= one.begin_ns) return;
    all_.push_back(std::move(one));
    if (all_.size() >= 2 * most_) cut();
  }
  // Ascending begin.
  [[nodiscard]] std::vector<band> take() {
    cut();
    std::ranges::stable_sort(all_, {}, &band::begin_ns);
    return std::exchange(all_, {});
  }

 private:
  void cut() {
    if (all_.size() <= most_) return;
    const auto length = [](const band& one) { return one.end_ns - one.begin_ns; };
    std::ranges::stable_sort(all_, std::greater(), length);
    all_.resize(most_);
  }

  std::size_t most_;
  std::vector<band> all_;
};

}  // namespace memtrace::history
