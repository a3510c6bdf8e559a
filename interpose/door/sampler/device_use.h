// SPDX-License-Identifier: Apache-2.0
//
// How much of each device is in use and by whom, as the driver and NVML say: counters of
// memtrace/host_samples.h. The sampler's thread never calls CUDA, which may be going away while it
// runs; it asks, and the program's next CUDA call of those that we stand in front of answers, in a
// thread whose context is that device's. Besides, a call that may have set a new high is followed
// by a sample.
//
// A sample is taken only where no other thread is between a call's real one and its record: what
// the trace tells before a sample is all that was in it, and nothing that was not.
//
//   thread 1   ├ begun ─ real call ─ record ─ took() ── sample ─ ended ┤
//   thread 2                                             ├ begun ─ real call ─ …  then no sample
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/ground/recorder/recorder.h"
#include "memtrace/cuda_calls.h"

namespace memtrace::device_use {

inline std::atomic<std::uint32_t> asked{0};
inline std::atomic<std::uint64_t> begun{0};  // recorded calls, ever
inline std::atomic<std::uint64_t> ended{0};
inline thread_local constinit std::uint32_t seen = 0;
inline thread_local constinit std::uint64_t own_calls = 0;  // of this thread, under way

// From the sampler's thread.
inline void ask() noexcept {
  asked.fetch_add(1, std::memory_order_relaxed);
}
// How long the latest answer took, in nanoseconds.
[[nodiscard]] std::uint64_t cost() noexcept;

// Around a call that is recorded, from before the real one to after its record.
class [[nodiscard]] call_under_way {
 public:
  call_under_way() noexcept {
    begun.fetch_add(1, std::memory_order_acq_rel);
    ++own_calls;
  }
  ~call_under_way() {
    --own_calls;
    ended.fetch_add(1, std::memory_order_acq_rel);
  }
  call_under_way(const call_under_way&) = delete;
  call_under_way& operator=(const call_under_way&) = delete;
};

// From another CUDA call of the program: takes a sample if one is asked for. A load and a compare
// if none is.
void answer_now(recorder& to) noexcept;
inline void answer(recorder& to) noexcept {
  if (asked.load(std::memory_order_relaxed) != seen) [[unlikely]]
    answer_now(to);
}

// After the record of a call that took memory of the device, or makes it hold some.
void took(recorder& to, std::uint32_t device, format::cuda_effect effect,
          std::uint64_t bytes) noexcept;
// Before the record of a call that gives memory back.
void gives_back(recorder& to, std::uint32_t device) noexcept;

// Stream-ordered pools that the program made; those of the devices are known.
void pool_made(std::uint64_t pool, std::uint32_t device) noexcept;
// Before the real call. Waits for a thread that is just asking the pool.
void pool_ends(std::uint64_t pool) noexcept;

void in_forked_child() noexcept;

}  // namespace memtrace::device_use
