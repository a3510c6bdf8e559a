// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/heap_scan_moments.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/read_clock.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/session/refusals.h"
#include "interpose/ground/session/session.h"
#include "interpose/sight/agent/heap_scan_schedule.h"
#include "interpose/sight/agent/leading_optimizer.h"
#include "interpose/sight/agent/memory_watch.h"
#include "interpose/sight/autograd/running_node.h"
#include "interpose/sight/heap_scan/heap_scan.h"
#include "interpose/sight/heap_scan/step_lengths.h"
#include "interpose/sight/python/interpreter.h"
#include "interpose/sight/python/pending_call.h"

namespace memtrace::heap_scan_moments {

using format::census_reason;

namespace detail {

std::array<device_usage, max_devices> usage{};
std::atomic<std::int32_t> events_left{INT32_MAX};

}  // namespace detail

namespace {

constexpr std::uint64_t mib = 1 << 20;
// A peak is new when it is higher by a tenth, and by this much. (By a quarter, too few heap scans
// were near the end of what leaks.)
constexpr std::uint64_t least_rise = 8 * mib;
constexpr std::int32_t events_at_once = 64;

std::atomic<bool> is_on{false};
small_lock lock;  // of the schedule, the leader, the watch and all limits
agent::memory_watch* watch = nullptr;
// The limits as they are again when the watch ends.
std::array<std::uint64_t, max_devices> unwatched_limit{};
agent::heap_scan_schedule schedule;
agent::leading_optimizer leader;
std::uint64_t loaded_ns = 0;

// Bits by census_reason: what the pending call is to take.
std::atomic<std::uint32_t> wanted{0};
std::atomic<bool> is_rearming{false};

constexpr std::uint32_t bit_of(census_reason why) noexcept {
  return 1u << static_cast<std::uint32_t>(why);
}

std::uint64_t now_ns() noexcept {
  return read_clock(CLOCK_MONOTONIC);
}

std::uint64_t allocated() noexcept {
  std::uint64_t sum = 0;
  for (const detail::device_usage& device : detail::usage) {
    sum += device.allocated.load(std::memory_order_relaxed);
  }
  return sum;
}

unsigned devices_in_use() noexcept {
  unsigned count = 0;
  for (const detail::device_usage& device : detail::usage) {
    if (device.allocated.load(std::memory_order_relaxed) != 0) ++count;
  }
  return count;
}

// In the interpreter that the agent runs in, by a thread that holds its GIL.
bool may_look() noexcept {
  return is_on.load(std::memory_order_acquire) && python_stack::this_interpreter().is_in_main();
}

bool holds_gil() noexcept {
  return python_stack::this_interpreter().this_thread_has_gil();
}

void take(recorder& to, census_reason why) noexcept {
  const heap_scan::outcome taken =
      heap_scan::take(to, why, {.allocated = allocated(), .devices = devices_in_use()});
  const lock_holder holder(lock);
  schedule.took(why, allocated(), taken.nanoseconds);
}

// Each rank waits for the slowest, so they have to look at the same time.
bool is_one_of_several() noexcept {
  const char* const size = std::getenv("WORLD_SIZE");
  if (size != nullptr && *size != '\0') return std::strtol(size, nullptr, 10) > 1;
  return std::getenv("RANK") != nullptr;
}

// A scan that was asked for goes before one that was due.
census_reason first_of(std::uint32_t reasons) noexcept {
  for (const census_reason why : {census_reason::signal, census_reason::program,
                                  census_reason::high_water, census_reason::step}) {
    if ((reasons & bit_of(why)) != 0) return why;
  }
  return census_reason::interval;
}

pending_call::outcome take_wanted(bool) {
  const errno_keeper errno_stays;
  using result_of = pending_call::outcome;
  recorder* const to = session::active();
  // Asked for again at a later event.
  if (to == nullptr || !may_look() || autograd::running_backwards() > 0) return result_of::done;
  const std::uint32_t reasons = wanted.exchange(0, std::memory_order_acq_rel);
  if (reasons != 0) take(*to, first_of(reasons));
  return result_of::done;
}

constinit pending_call heap_scan_call{take_wanted};

void ask() noexcept {
  if (autograd::running_backwards() > 0) return;
  if (heap_scan_call.has_run() && !is_rearming.exchange(true, std::memory_order_acquire)) {
    if (heap_scan_call.has_run()) heap_scan_call.again();
    is_rearming.store(false, std::memory_order_release);
  }
  heap_scan_call.request();
}

// At the next event at the latest: this may be inside the allocator, or in a signal's handler.
void want(census_reason why) noexcept {
  wanted.fetch_or(bit_of(why), std::memory_order_acq_rel);
  detail::events_left.store(0, std::memory_order_relaxed);
}

// With the lock.
std::uint64_t limit_of(std::uint32_t device) noexcept {
  return watch != nullptr ? unwatched_limit[device]
                          : detail::usage[device].limit.load(std::memory_order_relaxed);
}

void set_limit(std::uint32_t device, std::uint64_t limit) noexcept {
  if (watch != nullptr) {
    unwatched_limit[device] = limit;
  } else {
    detail::usage[device].limit.store(limit, std::memory_order_relaxed);
  }
}

void stop_watch() noexcept {
  watch = nullptr;
  for (std::uint32_t device = 0; device < max_devices; ++device) {
    set_limit(device, unwatched_limit[device]);
  }
}

void step_ended(recorder& to) noexcept {
  if (heap_scan::step_lengths::is_watching() && holds_gil() && may_look()) {
    heap_scan::step_lengths::record(to);
  }
  bool due = false;
  {
    const lock_holder holder(lock);
    due = schedule.step(now_ns(), allocated());
  }
  if (!due) return;
  if (!holds_gil() || autograd::running_backwards() > 0) return want(census_reason::step);
  if (may_look()) take(to, census_reason::step);
}

}  // namespace

void detail::see_peak(const usage_report& report) noexcept {
  const std::uint32_t device = report.device % max_devices;
  bool due = false;
  {
    const lock_holder holder(lock);
    if (watch != nullptr) watch->see(report);
    if (report.allocated > limit_of(device)) {
      due = schedule.high_water(now_ns());
      // Where there is no time for it now, a little later.
      const std::uint64_t rise =
          due ? std::max(report.allocated / 10, least_rise) : std::max(report.allocated / 50, mib);
      set_limit(device, report.allocated + rise);
    }
  }
  if (due) want(census_reason::high_water);
}

void detail::see_events() noexcept {
  if (!is_on.load(std::memory_order_acquire)) {
    events_left.store(INT32_MAX, std::memory_order_relaxed);
    return;
  }
  if (wanted.load(std::memory_order_relaxed) == 0) {
    const lock_holder holder(lock);
    if (schedule.events(events_at_once, now_ns(), allocated())) want(census_reason::interval);
  }
  if (wanted.load(std::memory_order_relaxed) == 0) {
    events_left.store(events_at_once, std::memory_order_relaxed);
  } else {
    ask();
  }
}

void see_call() noexcept {
  if (!is_on.load(std::memory_order_relaxed) || autograd::is_in_backward()) return;
  const lock_holder holder(lock);
  if (schedule.call(now_ns(), allocated())) want(census_reason::interval);
}

void load() noexcept {
  loaded_ns = now_ns();
}

void in_forked_child() noexcept {
  new (&lock) small_lock;
  // Left as it is, not destroyed: another thread may have been changing it.
  if (watch != nullptr) stop_watch();
  wanted.store(0);
  is_rearming.store(false);
}

void begin() noexcept {
  if (!refusals::is_allowed(capability::census)) return;
  const bool is_one = is_one_of_several();
  {
    const lock_holder holder(lock);
    schedule.begin(loaded_ns, is_one, settings::is_on(capability::step_census));
    if (schedule.has_timetable() && !is_one) {
      for (std::uint32_t device = 0; device < max_devices; ++device) {
        set_limit(device, 2 * least_rise);
      }
    }
  }
  detail::events_left.store(events_at_once);
  is_on.store(true, std::memory_order_release);
  listen_for_signal();
}

void optimizer_stepped(recorder& to, std::uint64_t optimizer) noexcept {
  if (!is_on.load(std::memory_order_relaxed)) return;
  {
    const lock_holder holder(lock);
    if (!leader.is_led_by(optimizer)) return;
  }
  step_ended(to);
}

void program_stepped(recorder& to) noexcept {
  if (!is_on.load(std::memory_order_relaxed)) return;
  {
    const lock_holder holder(lock);
    if (!leader.is_led_by(agent::leading_optimizer::the_program)) return;
  }
  step_ended(to);
}

void program_asks(recorder& to) noexcept {
  if (!is_on.load(std::memory_order_relaxed)) return;
  if (!holds_gil()) return want(census_reason::program);
  if (may_look()) take(to, census_reason::program);
}

void signal_asks() noexcept {
  want(census_reason::signal);
}

void allocation_failed(recorder& to) noexcept {
  bool due = false;
  {
    const lock_holder holder(lock);
    due = schedule.out_of_memory(now_ns());
  }
  if (due && may_look()) take(to, census_reason::out_of_memory);
}

void interpreter_ends(recorder& to) noexcept {
  if (may_look()) take(to, census_reason::exit);
  // From here on objects go away, also while others are still reachable.
  is_on.store(false, std::memory_order_release);
}

bool begin_watch() noexcept {
  end_watch();
  auto* const begun = new (std::nothrow) agent::memory_watch;
  if (begun == nullptr) return false;
  const lock_holder holder(lock);
  for (std::uint32_t device = 0; device < max_devices; ++device) {
    unwatched_limit[device] = limit_of(device);
    detail::usage[device].limit.store(0, std::memory_order_relaxed);
  }
  watch = begun;
  return true;
}

int read_watch(std::uint64_t* now, std::uint64_t* peak, unsigned devices) noexcept {
  const lock_holder holder(lock);
  if (watch == nullptr || !watch->is_whole()) return -1;
  const unsigned used = watch->devices();
  for (std::uint32_t device = 0; device < std::min(devices, used); ++device) {
    const auto found = watch->of(device, detail::usage[device].allocated.load());
    now[device] = found.now;
    peak[device] = found.peak;
  }
  return static_cast<int>(used);
}

void end_watch() noexcept {
  agent::memory_watch* ended = nullptr;
  {
    const lock_holder holder(lock);
    if (watch == nullptr) return;
    ended = watch;
    stop_watch();
  }
  delete ended;
}

}  // namespace memtrace::heap_scan_moments
