// SPDX-License-Identifier: Apache-2.0
//
// The lengths of a few containers at the end of each step (capability `lengths`): those that the
// latest heap scan found to hold memory, and longer than the one before. A series of lengths says
// what no source has to be read for: it was emptied, it stands at what it may hold, it grows by one
// a step.
//
//   heap scan ─► choose(): at most 16 ─► each step's end: record() ─► records `length`
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "interpose/ground/recorder/recorder.h"
#include "interpose/sight/heap_scan/named_container.h"

namespace memtrace::heap_scan {

// As a heap scan has found it.
struct found_container {
  named_container which;
  std::uint64_t length = 0;
  std::uint64_t bytes = 0;  // that it holds on GPUs
};

namespace step_lengths {

inline constexpr std::size_t most = 16;

namespace detail {
extern std::atomic<bool> is_watching;
}  // namespace detail

// Whether record() has anything to do: mostly it has not.
[[nodiscard]] inline bool is_watching() noexcept {
  return detail::is_watching.load(std::memory_order_relaxed);
}

// Both need the GIL. After each heap scan, with all that it has found.
void choose(std::vector<found_container> found);
void record(recorder& to) noexcept;

}  // namespace step_lengths

}  // namespace memtrace::heap_scan
