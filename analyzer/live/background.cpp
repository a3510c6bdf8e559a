// SPDX-License-Identifier: Apache-2.0
#include "analyzer/live/background.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "analyzer/run/load.h"
#include "analyzer/trace/followed_file.h"
#include "analyzer/trace/reader.h"

namespace memtrace::live {

namespace {

constexpr int share_of_time = 20;
constexpr auto least_pause = std::chrono::seconds(5);

// Of this thread and those that it starts: the training's own go first on every core.
void give_way() {
  constexpr sched_param none{};
  (void)::sched_setscheduler(0, SCHED_IDLE, &none);
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 19);
}

}  // namespace

trace::result<report_so_far> report_now(const std::string& path) {
  const auto began = std::chrono::steady_clock::now();
  auto file = trace::followed_file::open(path);
  if (!file) return file.failure();
  auto reader = trace::reader::open(**file);
  if (!reader) return reader.failure();
  report_so_far made{run::load(path, *reader), began, {}};
  made.took = std::chrono::steady_clock::now() - began;
  return made;
}

void background::want(const std::string& path, std::uint64_t events, bool last) {
  const auto known = asked_.find(path);
  const bool is_new = known == asked_.end() || known->second != events;
  if (!is_new || events == 0 || shared_->busy.load()) return;
  {
    const std::scoped_lock hold(shared_->lock);
    if (!last && clock::now() < shared_->next) return;
  }
  asked_[path] = events;
  shared_->busy = true;
  std::thread([shared = shared_, path] {
    give_way();
    auto made = report_now(path);
    const std::scoped_lock hold(shared->lock);
    if (made) {
      const auto took = made->took;
      shared->found[path] = std::make_shared<const report_so_far>(std::move(*made));
      shared->next = clock::now() + std::max<clock::duration>(least_pause, took * share_of_time);
    } else {
      shared->next = clock::now() + least_pause;
    }
    shared->busy = false;
  }).detach();
}

std::shared_ptr<const report_so_far> background::latest(const std::string& path) {
  const std::scoped_lock hold(shared_->lock);
  const auto found = shared_->found.find(path);
  return found == shared_->found.end() ? nullptr : found->second;
}

}  // namespace memtrace::live
