// SPDX-License-Identifier: Apache-2.0
//
// The optimizer steps that the calling thread is in, one within another (a step's closure may run
// another step): phase records, and autograd's mark for allocator events.
#pragma once

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::agent {

// Ends what an earlier step of the same optimizer left open: an exception has ended it.
void begin_running_step(recorder& to, std::uint64_t optimizer, std::uint32_t type) noexcept;
// And those within it.
void end_running_step(recorder& to, std::uint64_t optimizer) noexcept;

namespace detail {
extern thread_local constinit unsigned running_step_count
    __attribute__((tls_model("initial-exec")));
}
[[nodiscard]] inline unsigned running_steps() noexcept {
  return detail::running_step_count;
}
// Ends all but the `depth` outermost ones.
void abandon_steps(recorder& to, unsigned depth) noexcept;

}  // namespace memtrace::agent
