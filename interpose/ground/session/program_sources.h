// SPDX-License-Identifier: Apache-2.0
//
// The program's own text, for the trace (capability `source`): each file that has a frame on a
// recorded stack, or owns what keeps memory alive, is read once by a thread of ours, soon after the
// trace has named it. No event waits for that: a disk that does not answer, or a file that is gone,
// costs the text alone (format::source_unreadable).
//
//   a frame that is new ─► source_list ─► thread: open, read, close ─► records of 32 KiB
//                                           └ exit waits a little for what is still to be read
#pragma once

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::program_sources {

// With the library, before the program reads a file of its own: what has changed since then may not
// be what runs. A forked child inherits the moment.
void load() noexcept;
// The moments of session::part.
void in_forked_child() noexcept;
void open(recorder& to) noexcept;
void finish(recorder& to) noexcept;

}  // namespace memtrace::program_sources
