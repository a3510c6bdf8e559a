// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/thread_memory.h"

#include <new>

#include "interpose/ground/base/thread_end.h"

namespace memtrace::autograd {

thread_local constinit thread_memory* detail::memory = nullptr;

namespace {

void forget(void* memory) {
  detail::memory = nullptr;
  auto* const ended = static_cast<thread_memory*>(memory);
  if (ended->places != nullptr) forward_places::give_back(*ended->places);
  delete ended;
}

constinit thread_end end_of_memory{forget};

}  // namespace

thread_memory* detail::make_memory() noexcept {
  auto* const made = new (std::nothrow) thread_memory;
  if (made == nullptr || !end_of_memory.set(made)) {
    delete made;
    return nullptr;
  }
  return memory = made;
}

}  // namespace memtrace::autograd
