// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/live/idle_work.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace memtrace::live {

namespace {

using clock = std::chrono::steady_clock;
constexpr int share_of_time = 20;
constexpr auto least_pause = std::chrono::seconds(5);

// Lowers this thread and those that it starts: the training's own go first on every core.
void give_way() {
  constexpr sched_param none{};
  (void)::sched_setscheduler(0, SCHED_IDLE, &none);
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 19);
}

}  // namespace

bool idle_work::begin(std::function<void()> piece, bool may_wait) {
  {
    const std::scoped_lock hold(shared_->lock);
    if (shared_->busy || (may_wait && clock::now() < shared_->next)) return false;
    shared_->busy = true;
  }
  std::thread([shared = shared_, piece = std::move(piece)] {
    give_way();
    const auto began = clock::now();
    piece();
    const std::scoped_lock hold(shared->lock);
    const auto now = clock::now();
    shared->next = now + std::max<clock::duration>(least_pause, (now - began) * share_of_time);
    shared->busy = false;
  }).detach();
  return true;
}

}  // namespace memtrace::live
