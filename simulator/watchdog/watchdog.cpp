// SPDX-License-Identifier: Apache-2.0
//
// A small library that is preloaded into programs on the simulated GPU: see
// simulator/core/nccl_watchdog.h, which asks it. PyTorch's watchdog threads wait in
// pthread_cond_timedwait, which this library takes over for them alone.

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace memtrace::simulator::watchdog {
namespace {

constexpr char watchdog_name[] = "pt_nccl_watchdg";
constexpr int most_watchdogs = 64;
constexpr std::int64_t patience_ns = 1'000'000'000;
constexpr std::int64_t usual_look_ns = 2'000'000'000;

using timed_wait = int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*);
using get_time = int (*)(clockid_t, timespec*);

struct watchdog {
  std::atomic<int> process{0};  // 0: free. A forked child has none of its parent's threads
  std::atomic<pthread_cond_t*> waits_on{nullptr};
  std::atomic<std::uint64_t> wanted{0};
  std::atomic<std::uint64_t> done{0};
};

watchdog all[most_watchdogs];
std::atomic<int> pauses{0};

enum class answer : unsigned char { unknown, no, yes };

// Tells what happens to the thread's place when it ends.
struct place {
  watchdog* mine = nullptr;
  ~place() {
    if (mine != nullptr) mine->process = 0;
  }
};

thread_local answer is_watchdog = answer::unknown;
thread_local place own;
thread_local std::uint64_t looks_for = 0;  // the request that it is answering; 0: none
// Makes the clock's next reading say that the time to wait for is over.
thread_local bool realtime_is_over = false;
thread_local bool monotonic_is_over = false;

timed_wait real_wait() {
  static const auto real =
      reinterpret_cast<timed_wait>(dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2"));
  return real;
}

std::atomic<get_time> real_time{nullptr};

// Until then, and where there is none, the kernel is asked.
__attribute__((constructor)) void find_real_time() {
  real_time = reinterpret_cast<get_time>(dlsym(RTLD_NEXT, "clock_gettime"));
}

std::int64_t nanoseconds() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

bool here(const watchdog& one) {
  return one.process.load(std::memory_order_acquire) == static_cast<int>(getpid());
}

watchdog* take_place() {
  const int process = static_cast<int>(getpid());
  for (watchdog& one : all) {
    int before = one.process.load();
    if (before == process || !one.process.compare_exchange_strong(before, -1)) continue;
    one.waits_on = nullptr;
    one.wanted = 0;
    one.done = 0;
    one.process.store(process, std::memory_order_release);
    return &one;
  }
  return nullptr;
}

bool named_watchdog() {
  char name[16] = {};
  return prctl(PR_GET_NAME, name) == 0 && std::strcmp(name, watchdog_name) == 0;
}

// Threads get their names before they first wait.
bool this_is_one() {
  if (is_watchdog == answer::unknown) {
    is_watchdog = named_watchdog() ? answer::yes : answer::no;
    if (is_watchdog == answer::yes) own.mine = take_place();
  }
  return own.mine != nullptr;
}

timespec in_a_while() {
  timespec until{};
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &until);
  until.tv_sec += usual_look_ns / 1'000'000'000;
  return until;
}

// As its own wait would: 0 when it is woken, by whom ever; else the time is over for it, either
// because it was told to look, or because nobody did for a while.
int wait_to_be_asked(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  watchdog& mine = *own.mine;
  if (looks_for != 0) mine.done.store(looks_for, std::memory_order_release);
  looks_for = 0;
  mine.waits_on.store(condition, std::memory_order_release);
  int result = 0;
  do {
    const timespec until = in_a_while();
    if (mine.wanted.load() == mine.done.load()) result = real_wait()(condition, mutex, &until);
  } while (result == ETIMEDOUT && pauses.load() > 0 && mine.wanted.load() == mine.done.load());
  const std::uint64_t wanted = mine.wanted.load();
  if (wanted != mine.done.load()) {
    looks_for = wanted;
    result = ETIMEDOUT;
  }
  realtime_is_over = monotonic_is_over = result == ETIMEDOUT;
  return result;
}

void ask(watchdog& one) {
  const std::uint64_t wanted = one.wanted.fetch_add(1) + 1;
  const std::int64_t end = nanoseconds() + patience_ns;
  while (one.done.load(std::memory_order_acquire) < wanted && here(one)) {
    // It may be about to wait: one signal can be too early.
    if (auto* const condition = one.waits_on.load(std::memory_order_acquire)) {
      pthread_cond_broadcast(condition);
    }
    if (nanoseconds() > end) return;
    const timespec moment{0, 20'000};
    nanosleep(&moment, nullptr);
  }
}

int started() {
  DIR* const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  int count = 0;
  while (const dirent* const entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", entry->d_name);
    std::FILE* const file = std::fopen(path, "re");
    if (file == nullptr) continue;
    char name[32] = {};
    if (std::fgets(name, sizeof name, file) != nullptr) {
      name[std::strcspn(name, "\n")] = '\0';
      count += std::strcmp(name, watchdog_name) == 0 ? 1 : 0;
    }
    std::fclose(file);
  }
  closedir(tasks);
  return count;
}

int known() {
  int count = 0;
  for (const watchdog& one : all) {
    if (here(one) && one.waits_on.load() != nullptr) ++count;
  }
  return count;
}

}  // namespace
}  // namespace memtrace::simulator::watchdog

namespace watchdogs = memtrace::simulator::watchdog;

#define MEMTRACE_EXPORT extern "C" __attribute__((visibility("default")))

MEMTRACE_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                           const timespec* until) {
  if (watchdogs::this_is_one()) return watchdogs::wait_to_be_asked(condition, mutex);
  return watchdogs::real_wait()(condition, mutex, until);
}

MEMTRACE_EXPORT int clock_gettime(clockid_t clock, timespec* to) noexcept {
  const auto real = watchdogs::real_time.load(std::memory_order_relaxed);
  const int result =
      real != nullptr ? real(clock, to) : static_cast<int>(syscall(SYS_clock_gettime, clock, to));
  bool* const over = clock == CLOCK_REALTIME    ? &watchdogs::realtime_is_over
                     : clock == CLOCK_MONOTONIC ? &watchdogs::monotonic_is_over
                                                : nullptr;
  if (over != nullptr && *over) {
    *over = false;
    to->tv_sec += 1;
  }
  return result;
}

MEMTRACE_EXPORT void memtrace_watchdog_let_look() {
  if (watchdogs::own.mine != nullptr) return;
  for (auto& one : watchdogs::all) {
    if (!watchdogs::here(one) || one.waits_on.load() == nullptr) continue;
    const bool answered = one.done.load() == one.wanted.load();
    if (answered) watchdogs::ask(one);
  }
}

MEMTRACE_EXPORT void memtrace_watchdog_expect() {
  const std::int64_t end = watchdogs::nanoseconds() + watchdogs::patience_ns / 2;
  const int wanted = watchdogs::started();
  while (watchdogs::known() < wanted && watchdogs::nanoseconds() < end) {
    const timespec moment{0, 200'000};
    nanosleep(&moment, nullptr);
  }
}

MEMTRACE_EXPORT int memtrace_watchdog_looking() {
  return watchdogs::looks_for != 0 ? 1 : 0;
}

MEMTRACE_EXPORT void memtrace_watchdog_pause(int more) {
  watchdogs::pauses += more;
}
