// SPDX-License-Identifier: Apache-2.0
//
// The phases that each thread is in, as the program said by the API or NVTX. They are remembered
// from before the recording, which begins with the first use of GPU memory: those of the thread
// that begins it are recorded then, those of other threads with the next phase they begin.
#pragma once

#include <cstdint>

#include "interpose/door/api/names.h"
#include "interpose/ground/recorder/recorder.h"

namespace memtrace::open_phases {

// Deeper ones are not recorded.
inline constexpr std::uint32_t max_depth = 64;

// `name` may be null.
void begin(format::phase_source source, const names::name* name) noexcept;
void end(format::phase_source source) noexcept;

// A recording has begun in this thread.
void record_earlier(recorder& to) noexcept;

}  // namespace memtrace::open_phases
