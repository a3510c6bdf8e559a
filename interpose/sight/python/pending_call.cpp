// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/pending_call.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "interpose/ground/base/read_clock.h"
#include "interpose/sight/python/interpreter.h"

namespace memtrace {

namespace {

constexpr std::uint64_t patience_ns = 200'000'000;

}  // namespace

void pending_call::request_slow() noexcept {
  state now = state_.load(std::memory_order_acquire);
  const python_stack::interpreter& python = python_stack::this_interpreter();
  if (now == state::done || !python.can_be_waited_for()) return;
  const pid_t process = getpid();
  if (pid_t requester = process_.load(std::memory_order_relaxed); requester != process) {
    // The first event of this process, or of a child forked before the call had run.
    if (!process_.compare_exchange_strong(requester, process)) return;
    queued_.store(false, std::memory_order_relaxed);
    requested_ns_.store(read_clock(CLOCK_MONOTONIC), std::memory_order_relaxed);
    state_.store(now = state::idle, std::memory_order_release);
  }
  if (now == state::idle) {
    bool none = false;
    const bool is_first = queued_.compare_exchange_strong(none, true);
    if (is_first && !python.queue(run_pending, this)) {
      queued_.store(false);  // Python's queue is full: the next event tries again
      return;
    }
    state_.compare_exchange_strong(now, state::requested);  // unless it has begun already
    return;
  }
  const bool overdue =
      now == state::requested &&
      read_clock(CLOCK_MONOTONIC) - requested_ns_.load(std::memory_order_relaxed) > patience_ns;
  if (overdue || now == state::helper_wanted) start_helper(now);
}

void pending_call::again() noexcept {
  requested_ns_.store(read_clock(CLOCK_MONOTONIC), std::memory_order_relaxed);
  state_.store(state::idle, std::memory_order_release);
}

int pending_call::run_pending(void* self) {
  auto& call = *static_cast<pending_call*>(self);
  if (call.process_.load(std::memory_order_relaxed) != getpid()) return 0;
  call.queued_.store(false);
  state now = call.state_.load(std::memory_order_relaxed);
  if (now != state::idle && now != state::requested) return 0;
  if (!call.state_.compare_exchange_strong(now, state::running)) {
    // From idle to requested meanwhile.
    if (now != state::requested || !call.state_.compare_exchange_strong(now, state::running)) {
      return 0;
    }
  }
  const outcome result = call.body_(false);
  call.state_.store(result == outcome::done ? state::done : state::helper_wanted,
                    std::memory_order_release);
  return result == outcome::in_helper_and_raised ? -1 : 0;
}

// Not noexcept, and nothing to destroy: see interpreter::with_gil().
void* pending_call::run_helper(void* self) {
  auto& call = *static_cast<pending_call*>(self);
  const bool has_run = python_stack::this_interpreter().with_gil([&call] {
    call.body_(true);
    call.state_.store(state::done, std::memory_order_release);
  });
  if (!has_run) call.state_.store(state::idle, std::memory_order_release);
  return nullptr;
}

void pending_call::start_helper(state from) noexcept {
  if (!state_.compare_exchange_strong(from, state::helper_started)) return;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // The program's signals are for the program's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, run_helper, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) state_.store(from, std::memory_order_release);  // the next event tries again
}

}  // namespace memtrace
