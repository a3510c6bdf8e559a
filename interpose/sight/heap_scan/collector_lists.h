// SPDX-License-Identifier: Apache-2.0
//
// All objects that Python's garbage collector knows, from its lists of generations, without the
// list of Python's own that gc.get_objects() makes.
#pragma once

#include "interpose/sight/heap_scan/python_types.h"

namespace memtrace::heap_scan {

class collector_lists {
 public:
  // Looks for the lists in the interpreter's state, once in a process. With find_python_objects().
  collector_lists() noexcept;

  // Calls each(object) until it returns false. Nothing where the lists were not found.
  template <typename Function>
  void for_each(Function each) const {
    if (generations_ == 0) return;
    for (const std::size_t place :
         {generation_bytes * 2, generation_bytes, std::size_t{0}, frozen}) {
      const address head = generations_ + place;
      for (address entry = next_of(head); entry != head; entry = next_of(entry)) {
        if (!each(entry + header_bytes)) return;
      }
    }
  }

 private:
  // PyGC_Head, which stands before an object: next, previous, with flags in their lowest bits.
  static constexpr std::size_t header_bytes = 16;
  // struct gc_generation; struct _gc_runtime_state has three, a pointer to the first, and one more
  // for objects that gc.freeze() has set aside.
  static constexpr std::size_t generation_bytes = 24;
  static constexpr std::size_t frozen = 3 * generation_bytes + 8;

  [[nodiscard]] static address find() noexcept;
  [[nodiscard]] static address next_of(address entry) noexcept {
    return load<address>(entry, 0) & ~address{3};
  }

  address generations_ = 0;
};

}  // namespace memtrace::heap_scan
