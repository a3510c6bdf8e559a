// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/heap_scan_signal.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/session/session.h"
#include "interpose/sight/agent/heap_scan_moments.h"

namespace memtrace::agent {

namespace {

constexpr int number = SIGUSR2;

std::atomic<pid_t> listener{0};

// In any thread, on top of anything: only atomics and system calls.
void on_signal(int) {
  const errno_keeper errno_stays;
  const pid_t process = getpid();
  if (process == listener.load(std::memory_order_relaxed) && session::active() != nullptr) {
    heap_scan_moments::signal_asks();
    return;
  }
  // A forked child without a recording of its own. The signal is blocked until this returns, and
  // then ends the process.
  signal(number, SIG_DFL);
  kill(process, number);
}

}  // namespace

void listen_for_heap_scan_signal() noexcept {
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

}  // namespace memtrace::agent
