// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/sampler/own_thread.h"

#include <pthread.h>
#include <signal.h>

#include <cstddef>

namespace memtrace::sampler {
namespace {

// For our frames, the C library's and NVML's; large buffers are static.
constexpr std::size_t stack_bytes = 256 << 10;

}  // namespace

bool start_own_thread(void* (*run)(void*), void* argument) noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error == 0;
}

}  // namespace memtrace::sampler
