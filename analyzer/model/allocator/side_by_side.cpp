// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/side_by_side.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace memtrace::allocator {

namespace {

constexpr std::size_t most_jobs = 16;  // each may hold a changed copy of the requests

[[nodiscard]] std::size_t wanted_jobs() {
  const char* const told = std::getenv("MEMTRACE_JOBS");
  const std::string_view text = told == nullptr ? "" : told;
  std::size_t jobs = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  return failed == std::errc() && end == text.data() + text.size() ? jobs : 0;
}

[[nodiscard]] std::size_t usable_cores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) {
    return static_cast<std::size_t>(CPU_COUNT(&cores));
  }
  return std::thread::hardware_concurrency();
}

// One call of side_by_side. All but `work` is guarded by the team's mutex.
struct batch {
  const std::function<void(std::size_t)>& work;
  std::size_t count = 0;
  std::size_t next = 0;  // not yet begun
  std::size_t done = 0;
  std::exception_ptr failure;
  std::condition_variable all_done;
};

// Threads that help whoever has work. The caller always works itself and waits only for what a
// thread has begun, so that a batch inside of a batch comes to its end, too.
class team {
 public:
  explicit team(std::size_t helpers) {
    for (std::size_t i = 0; i < helpers; ++i) helpers_.emplace_back([this] { help(); });
  }
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  ~team() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    has_work_.notify_all();
  }

  void run(batch& mine) {
    std::unique_lock lock(mutex_);
    open_.push_back(&mine);
    has_work_.notify_all();
    while (mine.next != mine.count) work_on(mine, lock);
    mine.all_done.wait(lock, [&] { return mine.done == mine.count; });
  }

 private:
  void help() {
    std::unique_lock lock(mutex_);
    while (true) {
      has_work_.wait(lock, [&] { return ends_ || !open_.empty(); });
      if (ends_) return;
      work_on(*open_.back(), lock);  // the innermost, for which others wait
    }
  }
  void work_on(batch& of, std::unique_lock<std::mutex>& lock) {
    const auto index = of.next++;
    if (of.next == of.count) std::erase(open_, &of);
    lock.unlock();
    std::exception_ptr failure;
    try {
      of.work(index);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !of.failure) of.failure = failure;
    if (++of.done == of.count) of.all_done.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable has_work_;
  std::vector<batch*> open_;  // with something not yet begun
  bool ends_ = false;
  std::vector<std::jthread> helpers_;  // the last member: they are joined first
};

}  // namespace

std::size_t job_limit() {
  const auto wanted = wanted_jobs();
  return std::clamp<std::size_t>(wanted != 0 ? wanted : usable_cores(), 1, most_jobs);
}

void side_by_side(std::size_t count, const std::function<void(std::size_t)>& work) {
  static const std::size_t jobs = job_limit();
  if (count == 1 || jobs == 1) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    return;
  }
  if (count == 0) return;
  static team all(jobs - 1);
  batch mine{work, count, 0, 0, {}, {}};
  all.run(mine);
  if (mine.failure) std::rethrow_exception(mine.failure);
}

}  // namespace memtrace::allocator
