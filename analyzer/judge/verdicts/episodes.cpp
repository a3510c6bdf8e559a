// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/episodes.h"

namespace memtrace::verdicts {

namespace {

constexpr std::uint64_t fewest_points = 12;  // as growth::judge wants

}  // namespace

void episodes::point(std::uint64_t event, std::uint64_t time_ns,
                     const totals_of_device& totals_of) {
  ++points_;
  if (now_ != nullptr) {
    now_->end_step(event, time_ns, totals_of);
  } else if (points_ == 2) {
    now_ = std::make_unique<timeline>(event);
  }
}

void episodes::end() {
  points_ = 0;
  if (now_ == nullptr) return;
  const auto points = now_->clock().now();
  const bool longer = longest_ == nullptr || points >= longest_->clock().now();
  if (points >= fewest_points && longer) {
    longest_ = std::move(now_);
    longest_by_calls_ = by_calls_;
  }
  now_.reset();
}

void episodes::start_again() {
  points_ = 0;
  now_.reset();
}

const timeline* episodes::longest() const {
  const auto points = now_ == nullptr ? 0 : now_->clock().now();
  if (points < fewest_points) return longest_.get();
  const bool longer = longest_ == nullptr || points >= longest_->clock().now();
  return longer ? now_.get() : longest_.get();
}

}  // namespace memtrace::verdicts
