// SPDX-License-Identifier: Apache-2.0
//
// The one recording of this process: begun by the first event that uses GPU memory, ended by
// exit. A process without such an event has no file, no thread and no output.
//
//   loading ─► untried ──start()──► active ──exit()──► finished: what comes after is counted
//                 ▲  │ └──► awaited ──┘   the disk does not answer yet: events are counted
//                 │  └──────► impossible: disabled, or no file (one sentence was said)
//                 └── fork: the child begins anew, if and when it uses GPU memory itself
#pragma once

#include <atomic>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::session {

namespace detail {
extern std::atomic<recorder*> the_recorder;
[[nodiscard]] recorder* begin_recording() noexcept;
}  // namespace detail

// The recorder, or null while there is none. One load.
[[nodiscard]] inline recorder* active() noexcept {
  return detail::the_recorder.load(std::memory_order_acquire);
}

// The recorder, begun if need be; null if that is impossible or not wanted.
[[nodiscard]] inline recorder* start() noexcept {
  recorder* const current = active();
  return current != nullptr ? current : detail::begin_recording();
}

// Ends the recording, as exit would: from here on hooks only forward.
void end() noexcept;
// The same before an exit that runs no handler, with this status.
void leave(int status) noexcept;

// Nothing will be recorded in this process (any more): every hook only forwards.
[[nodiscard]] bool is_impossible() noexcept;

// Where the allocator's events come from (info `event_source`), once that is known. A constant.
void tell_event_source(const char* value) noexcept;

}  // namespace memtrace::session
