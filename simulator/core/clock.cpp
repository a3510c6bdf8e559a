// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/clock.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "simulator/core/nccl_watchdog.h"

namespace memtrace::simulator::clock {
namespace {

std::atomic<time_point> current{0};

// A polling loop of a working thread reaches what it polls for after this many queries in a row.
constexpr unsigned patience = 1000;
// Real time after which an idle machine has done everything, for threads that never give work.
constexpr std::chrono::milliseconds idle{50};

struct thread_state {
  bool works = false;
  unsigned unready = 0;                           // queries in a row answered with "not yet"
  time_point waited = 0;                          // what a thread that gives no work has waited for
  time_point seen = 0;                            // the clock at its last query …
  std::chrono::steady_clock::time_point since{};  // … and since when it stands there
};

thread_local thread_state self;

void raise(time_point time) {
  time_point old = current.load(std::memory_order_relaxed);
  while (old < time && !current.compare_exchange_weak(old, time, std::memory_order_acq_rel,
                                                      std::memory_order_relaxed)) {
  }
}

bool idle_for_a_while(time_point time) {
  const auto real = std::chrono::steady_clock::now();
  if (self.seen != time || self.since == std::chrono::steady_clock::time_point{}) {
    self.seen = time;
    self.since = real;
    return false;
  }
  return real - self.since > idle;
}

duration per_us(std::size_t bytes, std::uint64_t bytes_per_us) {
  return bytes * 1000 / bytes_per_us + 1000;
}

}  // namespace

time_point now() {
  return current.load(std::memory_order_acquire);
}

time_point work_call() {
  if (!self.works) {
    self.works = true;
    raise(self.waited);
  }
  self.unready = 0;
  return current.fetch_add(host_call, std::memory_order_acq_rel) + host_call;
}

void wait_until(time_point time) {
  if (self.works) {
    self.unready = 0;
    raise(time);
  } else {
    self.waited = std::max(self.waited, time);
  }
}

bool poll(time_point time) {
  if (!self.works) {
    const time_point here = now();
    if (time <= std::max(here, self.waited)) return true;
    return !nccl_watchdog::looking() && idle_for_a_while(here);
  }
  if (time <= current.fetch_add(host_poll, std::memory_order_acq_rel) + host_poll) {
    self.unready = 0;
    return true;
  }
  if (++self.unready < patience) return false;
  wait_until(time);
  return true;
}

duration link_copy(std::size_t bytes) {
  return per_us(bytes, link_bytes_per_us);
}
duration device_copy(std::size_t bytes) {
  return per_us(bytes, device_bytes_per_us);
}

}  // namespace memtrace::simulator::clock
