// SPDX-License-Identifier: Apache-2.0
//
// The heaviest of many: at most so many. Those kept stay where they are; only weights are sorted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace memtrace::history {

template <class Value>
class heaviest {
 public:
  explicit heaviest(std::size_t most) : most_(most) {}

  // Whether something of this weight is kept, as things stand.
  [[nodiscard]] bool takes(double weight) const {
    if (kept_.size() < most_) return true;
    return !lightest_first_.empty() && weight > lightest_first_.front().weight;
  }
  // Something that takes() said yes of. Returns what makes room for it.
  std::optional<Value> add(double weight, Value one) {
    if (kept_.size() < most_) {
      lightest_first_.push_back({weight, kept_.size()});
      std::ranges::push_heap(lightest_first_, heavier);
      kept_.push_back(std::move(one));
      return std::nullopt;
    }
    std::ranges::pop_heap(lightest_first_, heavier);
    auto& lightest = lightest_first_.back();
    lightest.weight = weight;
    auto gone = std::exchange(kept_[lightest.place], std::move(one));
    std::ranges::push_heap(lightest_first_, heavier);
    return gone;
  }
  // In no order; there is nothing afterwards.
  [[nodiscard]] std::vector<Value> take() {
    lightest_first_.clear();
    return std::exchange(kept_, {});
  }

 private:
  struct entry {
    double weight = 0;
    std::size_t place = 0;
  };
  static constexpr auto heavier = [](const entry& one, const entry& other) {
    return one.weight > other.weight;
  };

  std::size_t most_;
  std::vector<Value> kept_;
  std::vector<entry> lightest_first_;  // a heap
};

}  // namespace memtrace::history
