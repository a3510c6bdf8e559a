// SPDX-License-Identifier: Apache-2.0
//
// The moments at which a heap scan (interpose/sight/heap_scan/heap_scan.h) is taken. When is
// heap_scan_schedule's matter; here is where:
//
//   optimizer's hook, memtrace_step(), memtrace_census() with the GIL ─► at once
//   event: a new peak, a model called, many events; SIGUSR2;
//   memtrace_step(), memtrace_census() without the GIL ─► pending call ─► between two bytecodes
//   PyTorch's observer of failed allocations, atexit ─► at once
//
// Nothing is taken inside an event, and only once the agent runs. MEMTRACE_CENSUS=0: never.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::heap_scan_moments {

namespace detail {

struct device_usage {
  std::atomic<std::uint64_t> allocated{0};
  std::atomic<std::uint64_t> limit{~0ull};  // what to ask at
};
extern std::array<device_usage, max_devices> usage;
// Until the events are looked at more closely. Threads may lose one another's: it need not be
// exact.
extern std::atomic<std::int32_t> events_left;

// Out of line, so that the way of every event stays short.
[[gnu::noinline, gnu::cold]] void see_peak(const usage_report& report) noexcept;
void see_events() noexcept;

}  // namespace detail

// At every allocation and free, inside the allocator. Two compares. While somebody watches
// (memory_watch.h), what leaves anything allocated is seen as a peak.
inline void see_usage(const usage_report& report) noexcept {
  detail::device_usage& device = detail::usage[report.device % max_devices];
  device.allocated.store(report.allocated, std::memory_order_relaxed);
  if (report.allocated > device.limit.load(std::memory_order_relaxed)) [[unlikely]]
    detail::see_peak(report);
  const std::int32_t left = detail::events_left.load(std::memory_order_relaxed) - 1;
  detail::events_left.store(left, std::memory_order_relaxed);
  if (left <= 0) [[unlikely]]
    detail::see_events();
}

// An event in a call of a model (an outermost module) that was not running at this thread's event
// before.
void see_call() noexcept;

// With the library: the process has begun.
void load() noexcept;
// The parent's requests are not for the child.
void in_forked_child() noexcept;

// The agent runs from now on. With the GIL.
void begin() noexcept;

// The end of an optimizer's step: in its hook, with the GIL.
void optimizer_stepped(recorder& to, std::uint64_t optimizer) noexcept;
// memtrace_step().
void program_stepped(recorder& to) noexcept;
// memtrace_census(): at once if this thread has the GIL.
void program_asks(recorder& to) noexcept;
// From a signal's handler (heap_scan_signal.cpp): at the next event.
void signal_asks() noexcept;
// SIGUSR2 asks for a heap scan from now on, where MEMTRACE_CENSUS_SIGNAL wants it. A second call
// does nothing.
void listen_for_signal() noexcept;
// With the GIL, in the thread whose allocation failed.
void allocation_failed(recorder& to) noexcept;
// With the GIL, before the interpreter goes away.
void interpreter_ends(recorder& to) noexcept;

// memtrace_watch_begin(), …_read() and …_end(): at most one watch a process. False, and -1, where
// there is none or it knows not everything.
[[nodiscard]] bool begin_watch() noexcept;
[[nodiscard]] int read_watch(std::uint64_t* now, std::uint64_t* peak, unsigned devices) noexcept;
void end_watch() noexcept;

}  // namespace memtrace::heap_scan_moments
