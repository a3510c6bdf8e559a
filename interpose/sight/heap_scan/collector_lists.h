// SPDX-License-Identifier: Apache-2.0
//
// All objects that Python's garbage collector knows, from its lists of generations, without the
// list of Python's own that gc.get_objects() makes.
#pragma once

#include "interpose/sight/autograd/readable_memory.h"
#include "interpose/sight/heap_scan/python_types.h"

namespace memtrace::heap_scan {

class collector_lists {
 public:
  // The youngest generation, at whose end is an object that was made just now: its list's head comes
  // next. The others stand behind it. False where they do not.
  [[nodiscard]] static bool learn(const autograd::readable_memory& memory,
                                  const object_layout& layout, address newest) noexcept;

  explicit collector_lists(const object_layout& layout) noexcept;

  // Calls each(object) until it returns false. Nothing where they were not learnt.
  template <typename Function>
  void for_each(Function each) const {
    if (generations_ == 0) return;
    for (const std::size_t place :
         {generation_bytes * 2, generation_bytes, std::size_t{0}, frozen_}) {
      const address head = generations_ + place;
      for (address entry = next_of(head); entry != head; entry = next_of(entry)) {
        if (!each(entry + header_bytes)) return;
      }
    }
  }

 private:
  // PyGC_Head, which stands before an object: next, previous, with flags in their lowest bits.
  static constexpr std::size_t header_bytes = 16;
  static constexpr std::size_t generation_bytes = 24;  // struct gc_generation, three of them

  [[nodiscard]] static address next_of(address entry) noexcept {
    return load<address>(entry, 0) & ~address{3};
  }

  address generations_;
  std::size_t frozen_;
};

}  // namespace memtrace::heap_scan
