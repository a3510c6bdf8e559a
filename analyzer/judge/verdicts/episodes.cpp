// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/episodes.h"

#include <utility>

namespace memtrace::verdicts {

namespace {

constexpr std::uint64_t fewest_points = 12;  // as growth::judge wants

}  // namespace

void episodes::point(std::uint64_t event, std::uint64_t time_ns,
                     const totals_of_device& totals_of) {
  ++points_;
  if (now_ != nullptr) {
    now_->end_step(event, time_ns, totals_of);
  } else if (points_ == first_points) {
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

namespace {

constexpr std::size_t most_names = 64;

}  // namespace

void phase_episodes::stepped(const trace::event& head, bool trains,
                             const episodes::totals_of_device& totals_of) {
  if (std::exchange(trained_, false) || trains) evaluation_.end();
  if (named_ == nullptr) return;
  if (!named_by_steps_) named_->start_again();
  named_by_steps_ = true;
  named_->count_calls(false);
  named_->point(head.number, head.time_ns, totals_of);
}

void phase_episodes::phase_changed(const trace::event& head, const trace::phase_event& record) {
  using format::phase_action;
  using format::phase_source;
  if (record.source != phase_source::user && record.source != phase_source::nvtx) return;
  if (named_ != nullptr) {
    if (record.name != name_ || head.thread != thread_) return;
    if (record.action == phase_action::begin) ++depth_;
    if (record.action != phase_action::end || --depth_ != 0) return;
    named_->end();
    named_ = nullptr;
    return;
  }
  if (record.action != phase_action::begin) return;
  if (by_name_.size() >= most_names && !by_name_.contains(record.name)) return;
  named_ = &by_name_[record.name];
  name_ = record.name;
  thread_ = head.thread;
  depth_ = 1;
  named_by_steps_ = false;
  named_->count_calls(true);
}

}  // namespace memtrace::verdicts
