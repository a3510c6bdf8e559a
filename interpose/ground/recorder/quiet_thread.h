// SPDX-License-Identifier: Apache-2.0
//
// A thread of ours in the traced process: the program's signals are for the program's threads.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstddef>

namespace memtrace {

// False where no thread can be had.
[[nodiscard]] inline bool start_quiet_thread(pthread_t& thread, void* (*run)(void*),
                                             void* argument) noexcept {
  // zstd keeps its tables on the heap; this is for its frames and ours.
  constexpr std::size_t stack_bytes = 128 << 10;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, stack_bytes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&thread, &attributes, run, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace memtrace
