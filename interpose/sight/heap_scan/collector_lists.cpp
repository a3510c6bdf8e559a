// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/collector_lists.h"

#include <array>

#include "interpose/ground/base/found_once.h"
#include "interpose/sight/autograd/readable_memory.h"

namespace memtrace::heap_scan {

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t pages_of_state = 64;
constexpr std::size_t word_bytes = sizeof(address);

// A circular list: its neighbours point back.
bool is_list(const autograd::readable_memory& memory, address head) noexcept {
  constexpr address flags = 3;
  const address next = memory.word(head) & ~flags;
  const address previous = memory.word(head + word_bytes) & ~flags;
  return next != 0 && previous != 0 && (memory.word(next + word_bytes) & ~flags) == head &&
         (memory.word(previous) & ~flags) == head;
}

}  // namespace

// By the word behind the three generations that points to the first of them.
address collector_lists::find() noexcept {
  const auto state = reinterpret_cast<address>(find_python_objects()->get_main_interpreter());
  const autograd::readable_memory memory;
  std::array<address, page_bytes / word_bytes> words;
  for (std::size_t page = 0; page < pages_of_state; ++page) {
    const address start = state + page * page_bytes;
    if (!memory.copy(start, words.data(), page_bytes)) return 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const address first = start + i * word_bytes - 3 * generation_bytes;
      if (words[i] != first || first < state) continue;
      if (is_list(memory, first) && is_list(memory, first + generation_bytes) &&
          is_list(memory, first + 2 * generation_bytes) && is_list(memory, first + frozen)) {
        return first;
      }
    }
  }
  return 0;
}

collector_lists::collector_lists() noexcept {
  static constinit found_once<address, find> first_generation;
  generations_ = first_generation.get();
}

}  // namespace memtrace::heap_scan
