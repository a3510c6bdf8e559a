// SPDX-License-Identifier: Apache-2.0
#include "interpose/autograd/thread_memory.h"

#include <pthread.h>

#include <new>

namespace memtrace::autograd {
namespace {

thread_local constinit thread_memory* mine = nullptr;

void forget(void* memory) {
  mine = nullptr;
  auto* const ended = static_cast<thread_memory*>(memory);
  if (ended->places != nullptr) forward_places::give_back(*ended->places);
  delete ended;
}

struct thread_end {
  pthread_key_t key{};
  const bool is_known = pthread_key_create(&key, &forget) == 0;
};

thread_memory* make() noexcept {
  static const thread_end end;
  if (!end.is_known) return nullptr;
  auto* const made = new (std::nothrow) thread_memory;
  if (made == nullptr || pthread_setspecific(end.key, made) != 0) {
    delete made;
    return nullptr;
  }
  return mine = made;
}

}  // namespace

thread_memory* this_threads_memory() noexcept {
  return mine != nullptr ? mine : make();
}

}  // namespace memtrace::autograd
