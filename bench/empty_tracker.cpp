// SPDX-License-Identifier: Apache-2.0
//
// A trace tracker that does nothing: what PyTorch's allocator itself takes to tell of its events.
// loops.py finds the allocator and its attachAllocatorTraceTracker().
#include <functional>

extern "C" [[gnu::visibility("default")]] void memtrace_attach_nothing(
    void (*attach)(void* allocator, std::function<void(const void*)>* tracker), void* allocator) {
  std::function<void(const void*)> nothing = [](const void*) {};
  attach(allocator, &nothing);
}
