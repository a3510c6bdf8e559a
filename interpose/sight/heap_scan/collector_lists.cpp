// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/collector_lists.h"

#include <atomic>

namespace memtrace::heap_scan {

namespace {

constinit std::atomic<address> youngest_generation{0};

// A circular list: its neighbours point back.
bool is_list(const autograd::readable_memory& memory, address head) noexcept {
  constexpr address flags = 3;
  const address next = memory.word(head) & ~flags;
  const address previous = memory.word(head + sizeof(address)) & ~flags;
  return next != 0 && previous != 0 && (memory.word(next + sizeof(address)) & ~flags) == head &&
         (memory.word(previous) & ~flags) == head;
}

}  // namespace

bool collector_lists::learn(const autograd::readable_memory& memory, const object_layout& layout,
                            address newest) noexcept {
  constexpr address flags = 3;
  const address youngest = memory.word(newest - header_bytes) & ~flags;
  for (const std::size_t place :
       {std::size_t{0}, generation_bytes, 2 * generation_bytes, std::size_t{layout.frozen}}) {
    if (!is_list(memory, youngest + place)) return false;
  }
  youngest_generation.store(youngest, std::memory_order_relaxed);
  return true;
}

collector_lists::collector_lists(const object_layout& layout) noexcept
    : generations_(youngest_generation.load(std::memory_order_relaxed)), frozen_(layout.frozen) {}

}  // namespace memtrace::heap_scan
