// SPDX-License-Identifier: Apache-2.0
//
// Fails closed: what could not be shown to work, or to be safe, in this process is off, is said in
// one line, and stands in the recording (info `refused`), so that a report can tell what is
// missing.
#pragma once

#include "interpose/ground/recorder/recorder.h"
#include "memtrace/capabilities.h"

namespace memtrace::refusals {

// For good, in this process and its forked children. The first reason of a capability counts; the
// text must live as long as the process. Any thread; allocates nothing, never waits.
void refuse(capability which, const char* why) noexcept;

// Not refused, and on by the settings.
[[nodiscard]] bool is_allowed(capability which) noexcept;

// Records the refusals from before this recording began.
void record_earlier(recorder& to) noexcept;

}  // namespace memtrace::refusals
