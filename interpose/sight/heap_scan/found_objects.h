// SPDX-License-Identifier: Apache-2.0
//
// The objects that a search has met, in the order in which it met them, each once, with the one
// that it was met from. Some 24 bytes an object.
#pragma once

#include <cstdint>

#include "interpose/sight/heap_scan/deadline.h"
#include "interpose/sight/heap_scan/mapped_array.h"
#include "interpose/sight/python/layout.h"

namespace memtrace::heap_scan {

using python_stack::address;
using node = std::uint32_t;
inline constexpr node no_node = ~0u;

class found_objects {
 public:
  // Past the deadline it is full: making room takes as long as there are objects.
  found_objects(std::uint64_t most, deadline& until) noexcept;

  // The new node, or no_node where the object is known, or there is no room: then is_full().
  // `parent` is a node or a root (see root_of()).
  [[nodiscard]] node add(address object, std::uint32_t parent) noexcept;
  // no_node: not met.
  [[nodiscard]] node find(address object) const noexcept;

  [[nodiscard]] node size() const noexcept { return static_cast<node>(objects_.size()); }
  [[nodiscard]] bool is_full() const noexcept { return full_; }
  [[nodiscard]] address object(node which) const noexcept { return objects_[which].object; }

  // Parents that are no node: the numbers of roots.
  [[nodiscard]] static constexpr std::uint32_t root(std::uint32_t number) noexcept {
    return first_root + number;
  }
  [[nodiscard]] bool is_root(node which) const noexcept {
    return objects_[which].parent >= first_root;
  }
  [[nodiscard]] std::uint32_t root_of(node which) const noexcept {
    return objects_[which].parent - first_root;
  }
  [[nodiscard]] node parent(node which) const noexcept { return objects_[which].parent; }

 private:
  static constexpr std::uint32_t first_root = 1u << 31;
  struct found {
    address object;
    std::uint32_t parent;
  };
  // Where the object stands in slots_, or the empty slot where it would.
  [[nodiscard]] std::size_t slot_of(address object) const noexcept {
    return slot_in(slots_, object);
  }
  [[nodiscard]] std::size_t slot_in(const mapped_array<std::uint32_t>& slots,
                                    address object) const noexcept;
  void make_room() noexcept;

  deadline& until_;
  mapped_array<found> objects_;
  mapped_array<std::uint32_t> slots_;  // node + 1; 0: empty
  bool full_ = false;
};

}  // namespace memtrace::heap_scan
