// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/sampler/sampler.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>

#include "interpose/door/sampler/device_use.h"
#include "interpose/door/sampler/host_look.h"
#include "interpose/door/sampler/process_watch.h"
#include "interpose/door/sampler/sample_plan.h"
#include "interpose/ground/base/futex.h"
#include "interpose/ground/base/own_descriptors.h"
#include "interpose/ground/base/read_clock.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/recorder/tick_clock.h"

namespace memtrace::sampler {
namespace {

constexpr std::uint64_t shortest_device_pause = 250'000'000;

// For our frames, the C library's and NVML's; large buffers are static.
constexpr std::size_t stack_bytes = 256 << 10;

// A child that is forked in the middle makes it anew.
struct running {
  std::atomic<std::uint32_t> stop{0};
  recorder* to = nullptr;
  host_look look;
};
alignas(running) char storage[sizeof(running)];
std::atomic<running*> current{nullptr};

template <typename Work>
std::uint64_t cost_of(Work work) noexcept {
  const std::uint64_t before = read_clock(CLOCK_THREAD_CPUTIME_ID);
  work();
  return read_clock(CLOCK_THREAD_CPUTIME_ID) - before;
}

bool is_stopped(const running& now) noexcept {
  return now.stop.load(std::memory_order_relaxed) != 0;
}

void take_samples(running& now) noexcept {
  const std::uint64_t began = monotonic_ns();
  const auto elapsed = [&] { return monotonic_ns() - began; };
  sample_plan plan;
  std::uint64_t next_children = 0;
  std::uint64_t next_device = 0;
  now.look.begin();
  while (!is_stopped(now)) {
    const std::uint64_t look_cost = cost_of([&] { now.look.process(*now.to); });
    const std::uint64_t pause = sample_plan::pause(elapsed(), look_cost);
    if (elapsed() >= next_children) {
      bool are_new = false;
      const std::uint64_t cost = cost_of([&] { are_new = now.look.children(*now.to); });
      next_children = elapsed() + sample_plan::pause(elapsed(), cost);
      if (are_new) plan.begin_series(elapsed());
    }
    if (now.look.has_children() && plan.walk_is_due(elapsed(), now.look.resident())) {
      const std::uint64_t cost = cost_of([&] { now.look.page_tables(*now.to, now.stop); });
      plan.walked(elapsed(), cost);
    }
    if (elapsed() >= next_device) {
      next_device = elapsed() + std::max({pause, shortest_device_pause,
                                          device_use::cost() * sample_plan::share});
      device_use::ask();
    }
    constexpr std::uint64_t ns_per_ms = 1'000'000;
    futex_wait(now.stop, 0, static_cast<std::uint32_t>(pause / ns_per_ms));
  }
}

void* run(void* argument) {
  auto& now = *static_cast<running*>(argument);
  pthread_setname_np(pthread_self(), "memtrace-host");
  if (leave_shared_descriptors()) take_samples(now);
  return nullptr;
}

}  // namespace

bool start_own_thread(void* (*run)(void*), void* argument) noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error == 0;
}

void load() noexcept {
  process_watch::load();
}

void start(recorder& to) noexcept {
  if (!settings::is_on(capability::sampling) || current.load(std::memory_order_relaxed) != nullptr)
    return;
  auto* const made = new (storage) running;
  made->to = &to;
  made->look.define_names(to);
  if (start_own_thread(&run, made)) current.store(made, std::memory_order_release);
  process_watch::start(to);
}

void finish(recorder& to) noexcept {
  process_watch::finish();
  running* const now = current.load(std::memory_order_acquire);
  if (now == nullptr) return;
  now->stop.store(1, std::memory_order_relaxed);
  futex_wake_all(now->stop);
  rusage usage{};
  constexpr double kibibyte = 1024;
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    to.counter(format::host::highest, static_cast<double>(usage.ru_maxrss) * kibibyte);
  }
}

void in_forked_child() noexcept {
  current.store(nullptr, std::memory_order_relaxed);
  process_watch::in_forked_child();
  device_use::in_forked_child();
}

}  // namespace memtrace::sampler
