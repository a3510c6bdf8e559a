// SPDX-License-Identifier: Apache-2.0
//
// The library's operator new and delete, which nobody else sees: its own heap. (What the C library
// allocates for a caller, as opendir does, stays in malloc, and so does zstd's memory.) Not built
// with a sanitizer, which has its own.
#include <new>

#include "interpose/ground/base/own_heap.h"

void* operator new(std::size_t bytes) {
  void* const memory = memtrace::own_heap::allocate(bytes);
  if (memory == nullptr) throw std::bad_alloc();  // the standard's contract; containers rely on it
  return memory;
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return memtrace::own_heap::allocate(bytes);
}

void operator delete(void* memory) noexcept {
  memtrace::own_heap::release(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  memtrace::own_heap::release(memory);
}

void operator delete(void* memory, const std::nothrow_t&) noexcept {
  memtrace::own_heap::release(memory);
}
