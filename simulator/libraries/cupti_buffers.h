// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's asynchronous buffers: the profiler hands out empty ones when asked and gets them back
// when they are full, flushed, or when the period is over. A real CUPTI gives them back from a
// thread of its own; here the call does that fills the buffer, so that runs repeat.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

namespace memtrace::simulator::cupti::buffers {

void use(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete);
[[nodiscard]] bool in_use();

// No lock of ours is held while the profiler's functions run. What finds no buffer is dropped.
void put(const void* record, std::size_t bytes);
template <typename Record>
void put(const Record& record) {
  put(&record, sizeof record);
}
void flush();
void set_period(std::uint32_t milliseconds);  // 0: none

// Dropped since last asked.
[[nodiscard]] std::size_t take_dropped();

}  // namespace memtrace::simulator::cupti::buffers
