// SPDX-License-Identifier: Apache-2.0
//
// Asks the disk in the place of a background thread. A thread that the kernel holds in a write (a
// frozen or dead file system) cannot be killed, and a process does not end before all its threads:
// its parent would wait for the disk. So the call is made by a child that shares our memory, as
// vfork() makes one, for which the thread waits killably. Nobody else sees it: it sends no signal
// when it ends, and wait() does not know it.
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace memtrace {

class detached_call {
 public:
  // In this thread calls are detached from now on: one that has all signals blocked.
  static void allow() noexcept {
    is_allowed_ = true;
    thread_.store(static_cast<pid_t>(syscall(SYS_gettid)), std::memory_order_relaxed);
  }

  // Whether that is the thread whose children are ours and none of the program's: /proc lists them.
  [[nodiscard]] static bool is_made_by(std::uint64_t thread) noexcept {
    return thread == static_cast<std::uint64_t>(thread_.load(std::memory_order_relaxed));
  }

  // Calls `ask`, which opens no descriptor and returns an errno value. Twice, if the first was
  // killed in the middle: what it does must bear that.
  template <class Ask>
  [[nodiscard]] static int make(Ask&& ask) noexcept {
    if (!is_allowed_) return ask();
    using one_job = job<std::remove_reference_t<Ask>>;
    one_job one{{&one_job::run, unanswered}, &ask};
    in_child(one);
    return one.error != unanswered ? one.error : ask();
  }

 private:
  static constexpr int unanswered = -1;
  struct any_job {
    void (*run)(any_job&) noexcept;
    int error;
  };
  template <class Ask>
  struct job : any_job {
    Ask* ask;
    static void run(any_job& self) noexcept { self.error = (*static_cast<job&>(self).ask)(); }
  };

  // Leaves the job unanswered where no child can be had.
  static void in_child(any_job& one) noexcept;
  static int run_child(void* argument);

  static inline thread_local constinit bool is_allowed_ = false;
  static inline constinit std::atomic<pid_t> thread_{0};  // there is one at a time
};

}  // namespace memtrace
