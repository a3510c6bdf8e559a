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
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/session/session.h"
#include "interpose/sight/agent/heap_scan_moments.h"

namespace memtrace::heap_scan_moments {

namespace {

constexpr int number = SIGUSR2;

std::atomic<pid_t> listener{0};

// In any thread, on top of anything: only atomics and system calls.
void on_signal(int) {
  const errno_keeper errno_stays;
  const pid_t process = getpid();
  if (process == listener.load(std::memory_order_relaxed) && session::active() != nullptr) {
    signal_asks();
    return;
  }
  // A forked child without a recording of its own. The signal is blocked until this returns, and
  // then ends the process.
  signal(number, SIG_DFL);
  kill(process, number);
}

}  // namespace

void listen_for_signal() noexcept {
  if (!settings::is_on(capability::census_signal) || listener.exchange(getpid()) == getpid())
    return;
  struct sigaction action {};
  if (sigaction(number, nullptr, &action) != 0) return;
  if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_handler = &on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(number, &action, nullptr);
}

}  // namespace memtrace::heap_scan_moments
