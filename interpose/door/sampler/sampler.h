// SPDX-License-Identifier: Apache-2.0
//
// Memory outside of PyTorch's pool, over time: host memory of the process and of those below it,
// the limit that it meets first, and what the driver says about the devices. Recorded as counters
// (include/memtrace/host_samples.h). MEMTRACE_SAMPLING=0 switches it off.
//
// A thread of our own takes the samples, from the first use of GPU memory to exit. Why not the
// program's threads, in passing: a walk over page tables takes milliseconds, and memory also grows
// where nothing is allocated on a GPU. What a program could notice of the thread:
//
//   a thread more     a process that uses a real GPU has threads of the driver by then, so that
//                     whatever depends on being single-threaded (CPython 3.12 warns at os.fork())
//                     is the same; on the simulated GPU it is one thread earlier than autograd's
//   signals           blocked in it, all
//   file descriptors  it has a table of its own; where that is not allowed there are no samples
//   malloc, locks     it allocates nothing, and of ours takes the recorder's lock only, for 0.1 us
//   fork              it does not exist in the child, which starts its own with its own recording
//   exit              it stops where it is: nobody waits for it
//
// Where NVML is asked there is one more (process_watch.h).
#pragma once

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::sampler {

// With the library.
void load() noexcept;
// Once for each recording, as soon as it has begun.
void start(recorder& to) noexcept;
// Before the recording ends.
void finish(recorder& to) noexcept;
void in_forked_child() noexcept;

// A thread of our own, for this and for process_watch: nobody waits for it, the program's signals
// are blocked in it, and its stack is small. False where there can be none.
[[nodiscard]] bool start_own_thread(void* (*run)(void*), void* argument) noexcept;

}  // namespace memtrace::sampler
