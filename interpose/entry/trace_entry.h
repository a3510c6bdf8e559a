// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's TraceEntry, read by offsets: we do not compile against torch.
//
//   offset  0 action (int)   4 device (int8; in 2.4 an int)   8 address   32 stream   40 size
//          48 pool id (two words), 64 time                    from 2.8 at the latest
//          48 time, 56 a std::string                          2.4.1, 2.6.0: see pool_choice.h
// (read in 2.4.1, 2.6.0, 2.8.0, 2.11.0 and 2.15.0 on x86-64). Which of the two it is shows in the
// first entry.
#pragma once

#include <cstdint>

#include "interpose/recorder/events.h"

namespace memtrace {

// Only ever seen by reference.
struct raw_trace_entry;

enum class entry_layout : std::uint8_t { unknown, without_pool, with_pool, implausible };

// Decides by the content of an entry.
[[nodiscard]] entry_layout recognise_layout(const raw_trace_entry& entry) noexcept;

// All fields but the stack. The layout must be one of the two.
[[nodiscard]] allocator_event read_entry(const raw_trace_entry& entry,
                                         entry_layout layout) noexcept;

}  // namespace memtrace
