// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/sparse_series.h"

#include <algorithm>

namespace memtrace::verdicts {

namespace {

constexpr std::size_t most_changes = 64;
constexpr std::size_t windows = 128;

}  // namespace

void sparse_series::push(std::uint64_t step, std::uint64_t value) {
  if (changes_.back().value == value) return;
  if (changes_.back().step == step) {
    changes_.back().value = value;
  } else {
    changes_.push_back({step, value});
  }
}

void sparse_series::set(std::uint64_t step, std::uint64_t value, std::uint64_t later) {
  push(step, value);
  push(step + 1, later);
  if (changes_.size() > most_changes) fold();
}

void sparse_series::fold() {
  if (!folded_) folded_.emplace(windows);
  for (std::size_t i = 0; i + 1 < changes_.size(); ++i) {
    folded_->add(changes_[i].value, changes_[i + 1].step - changes_[i].step);
  }
  changes_.erase(changes_.begin(), changes_.end() - 1);
  changes_.shrink_to_fit();
}

growth::series sparse_series::first(std::uint64_t steps) const {
  auto all = folded_ ? *folded_ : growth::series(windows);
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const auto until = i + 1 < changes_.size() ? std::min(changes_[i + 1].step, steps) : steps;
    if (until > changes_[i].step) all.add(changes_[i].value, until - changes_[i].step);
  }
  return all;
}

}  // namespace memtrace::verdicts
