// SPDX-License-Identifier: Apache-2.0
//
// Virtual time of the simulated machine, in nanoseconds, one clock for the process. It moves only
// when a thread that gives the GPU work makes a call, or waits for the GPU: never with real time,
// so that what depends on it (when an event is ready, hence when deferred frees complete) is the
// same on every run. Threads that only poll, as NCCL's watchdog does, do not move it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memtrace::simulator::clock {

using time_point = std::uint64_t;  // ns since the process began
using duration = std::uint64_t;    // ns

// Costs of a simulated machine. Unverified round figures of a current GPU; only their order
// matters: the GPU lags behind the host, as in training.
inline constexpr duration host_call = 5'000;  // a launch, copy or record, seen from the host
inline constexpr duration host_poll = 1'000;  // a query by a thread that also gives work
inline constexpr duration kernel = 20'000;    // any kernel
inline constexpr std::uint64_t queue_depth =
    1024;  // launches a stream holds before launching waits
inline constexpr std::uint64_t link_bytes_per_us = 25'000;       // host to device and back
inline constexpr std::uint64_t device_bytes_per_us = 1'000'000;  // within a device

[[nodiscard]] time_point now();

// The calling thread gives the GPU work: its call takes host_call. Returns the time after it.
time_point work_call();

// The clock is at least at `time` afterwards: the calling thread waited until then.
void wait_until(time_point time);

// Whether `time` has come, as the calling thread's query sees it. A thread that has given work pays
// host_poll, and the thousandth query in a row waits, so that polling loops end; other threads move
// nothing, and see as done what nobody has added to for a while of real time.
[[nodiscard]] bool poll(time_point time);

// The time a copy of `bytes` takes: over the link between host and device, or on a device.
[[nodiscard]] duration link_copy(std::size_t bytes);
[[nodiscard]] duration device_copy(std::size_t bytes);

}  // namespace memtrace::simulator::clock
