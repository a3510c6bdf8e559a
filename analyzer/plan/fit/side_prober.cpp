// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/side_prober.h"

#include <algorithm>

namespace memtrace::fit {

side_prober::side_prober(prober& runs, std::size_t jobs) : runs_(runs), jobs_(jobs) {
  if (jobs_ < 2) return;
  for (std::size_t i = 0; i < jobs_; ++i) {
    workers_.emplace_back([this] { work(); });
  }
}

side_prober::~side_prober() {
  {
    const std::lock_guard held(lock_);
    closed_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void side_prober::work() {
  std::unique_lock held(lock_);
  while (true) {
    changed_.wait(held, [&] { return closed_ || !waiting_.empty(); });
    if (closed_) return;
    auto* const mine = waiting_.front();
    waiting_.pop_front();
    mine->begun = true;
    held.unlock();
    auto ran = runs_.run(mine->wanted);
    held.lock();
    mine->ran = std::move(ran);
    changed_.notify_all();
  }
}

side_prober::order& side_prober::order_of(const trial& wanted) {
  const auto known = std::ranges::find(orders_, wanted, &order::wanted);
  if (known != orders_.end()) return *known;
  orders_.push_back({wanted, false, {}});
  return orders_.back();
}

void side_prober::expect(const std::vector<trial>& soon) {
  if (jobs_ < 2) return;
  {
    const std::lock_guard held(lock_);
    for (const auto& wanted : soon) {
      if (std::ranges::find(orders_, wanted, &order::wanted) != orders_.end()) continue;
      waiting_.push_back(&order_of(wanted));
    }
  }
  changed_.notify_all();
}

probe side_prober::run(const trial& wanted) {
  if (jobs_ < 2) return runs_.run(wanted);
  std::unique_lock held(lock_);
  auto& mine = order_of(wanted);
  if (!mine.begun) {  // before all that is only expected
    std::erase(waiting_, &mine);
    waiting_.push_front(&mine);
    changed_.notify_all();
  }
  changed_.wait(held, [&] { return mine.ran.has_value(); });
  auto ran = std::move(*mine.ran);
  orders_.remove_if([&](const order& one) { return &one == &mine; });
  return ran;
}

}  // namespace memtrace::fit
