// SPDX-License-Identifier: Apache-2.0
//
// SIGUSR2 asks for a heap scan where it would end the process: its handler notes that, and the next
// event of the allocator asks for it.
//
//   the program has a handler, or ignores it ─► left alone
//   it sets one later                         ─► that one holds, as it would have without us
//   a child without a recording               ─► ended by the signal, as without us
//
// Python's signal.getsignal() knows nothing of it: it tells what Python has set. What can be seen
// is SigCgt in /proc, the old action that sigaction() tells, and that the process goes on.
// Only where MEMTRACE_CENSUS_SIGNAL asks for it: schedulers send this signal before they end a job.
#pragma once

namespace memtrace::agent {

// Once the agent runs; a second call does nothing.
void listen_for_heap_scan_signal() noexcept;

}  // namespace memtrace::agent
