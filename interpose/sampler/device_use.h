// SPDX-License-Identifier: Apache-2.0
//
// How much of each device is in use, as the driver says: what PyTorch's pool holds, and all else
// (contexts, modules, libraries, other processes). The sampler's thread never calls CUDA, which may
// be going away while it runs; it asks, and the program's next CUDA call of those that we stand in
// front of answers, once for each device, in a thread whose context is that device's.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/recorder/recorder.h"

namespace memtrace::device_use {

inline std::atomic<std::uint32_t> asked{0};
inline thread_local constinit std::uint32_t seen = 0;

// From the sampler's thread.
inline void ask() noexcept {
  asked.fetch_add(1, std::memory_order_relaxed);
}
// What the latest answer took, in nanoseconds.
[[nodiscard]] std::uint64_t cost() noexcept;

void answer_now(recorder& to) noexcept;

// From a CUDA call of the program, before or after the real one. A load and a compare if nothing
// is asked.
inline void answer(recorder& to) noexcept {
  if (asked.load(std::memory_order_relaxed) != seen) [[unlikely]]
    answer_now(to);
}

}  // namespace memtrace::device_use
