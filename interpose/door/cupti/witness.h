// SPDX-License-Identifier: Apache-2.0
//
// A second witness: what CUPTI tells of memory, kernels and unified memory, beside what the hooks
// see. Only if MEMTRACE_CUPTI=1; otherwise nothing of CUPTI is touched.
//
//   off ──before the first CUDA allocation──► listening ──► ended: exit, or another profiler came
//    │                                   └──► refused: no CUPTI, or another profiler holds it
//
// CUPTI up to 13.0 has one subscriber at a time. Whoever was there first keeps it; a profiler of
// the program that comes later (torch.profiler) finds CUPTI as if we had never been there: we are
// gone before its call goes on (handover_hooks.cpp), for good.
//
// Records come in buffers, some 250 ms late, on a thread of CUPTI's.
#pragma once

#include <atomic>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::cupti {

enum class stage : int { off, untried, trying, listening, ended, refused };
inline std::atomic<stage> now{stage::off};

// Once, when the library is loaded: whether it was asked for.
void load() noexcept;

void begin() noexcept;
// Before the real call of whatever may allocate. A load and a compare unless there is something to
// do.
inline void begin_if_wanted() noexcept {
  if (now.load(std::memory_order_relaxed) == stage::untried) [[unlikely]]
    begin();
}

// Into a recording that has just begun.
void record_state(recorder& to) noexcept;

// Gives CUPTI back. `why` completes "CUPTI's records end here: …".
void end(const char* why) noexcept;

void in_forked_child() noexcept;

}  // namespace memtrace::cupti
