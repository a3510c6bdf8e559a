// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <cstdint>

namespace memtrace::simulator::cupti {

// Includes enabled kinds of which there are no records.
[[nodiscard]] bool is_enabled(CUpti_ActivityKind kind);
[[nodiscard]] CUptiResult enable(CUpti_ActivityKind kind, bool on);
void disable_all();

// Times of records: ns since 1970, or what the profiler's own clock says.
[[nodiscard]] std::uint64_t timestamp();
// A moment `ns` before or after another, in the same units.
[[nodiscard]] std::uint64_t later(std::uint64_t than, std::int64_t ns);
void use_clock(CUpti_TimestampCallbackFunc clock);  // null: ours

// The ids that the profiler gave to what the calling thread does.
void push_external(CUpti_ExternalCorrelationKind kind, std::uint64_t id);
[[nodiscard]] bool pop_external(CUpti_ExternalCorrelationKind kind, std::uint64_t& id);
// A new id for a call, told together with the ids above where that is wanted.
[[nodiscard]] std::uint32_t correlate();

}  // namespace memtrace::simulator::cupti
