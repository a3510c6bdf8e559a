// SPDX-License-Identifier: Apache-2.0
//
// Runs something in this process with the GIL held, asked for from a place that must not
// take it: a hook inside the allocator runs under the allocator's mutex, and waiting for the GIL
// there deadlocks with a thread that holds the GIL and wants that mutex.
//
//   event ─► request() ─► Py_AddPendingCall ─► the main thread runs it at its next bytecode
//              └ 200 ms later, not run (a main thread blocked in C): a helper thread takes the
//                GIL with PyGILState_Ensure and runs it
//
// request() is for every event: it costs one load once the call has run, tries again when
// Python's queue was full, and never waits. The helper is started by a later event, so a program
// whose main thread runs Python never gets an extra thread.
// again() makes a call that has run wait for the next request, so that it can run repeatedly. Where
// a helper ran it, Python's queue (32 places) still has the first request: it serves the next one,
// and no second is put there.
// Fork: what ran in the parent counts as run in the child; a request that was still waiting is
// dropped there and made again by the child's own first event.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <cstdint>

namespace memtrace {

class pending_call {
 public:
  enum class outcome : std::uint8_t {
    done,
    in_helper,             // run it in the helper instead; only from the main thread
    in_helper_and_raised,  // the same, and the program's own exception is set: it gets it
  };
  // Called with the GIL held, in the main thread or in the helper.
  using function = outcome (*)(bool helper);

  explicit constexpr pending_call(function body) noexcept : body_(body) {}
  pending_call(const pending_call&) = delete;
  pending_call& operator=(const pending_call&) = delete;

  void request() noexcept {
    if (state_.load(std::memory_order_relaxed) != state::done) [[unlikely]]
      request_slow();
  }
  // After has_run(); not at the same time as another again().
  void again() noexcept;
  [[nodiscard]] bool has_run() const noexcept {
    return state_.load(std::memory_order_acquire) == state::done;
  }

 private:
  enum class state : std::uint8_t { idle, requested, running, helper_wanted, helper_started, done };

  void request_slow() noexcept;
  void start_helper(state from) noexcept;
  static int run_pending(void* self);
  static void* run_helper(void* self);

  const function body_;
  std::atomic<state> state_{state::idle};
  std::atomic<pid_t> process_{0};               // who requested
  std::atomic<bool> queued_{false};             // in Python's queue, and not taken from it yet
  std::atomic<std::uint64_t> requested_ns_{0};  // CLOCK_MONOTONIC
};

}  // namespace memtrace
