// SPDX-License-Identifier: Apache-2.0
//
// The stacks that a thread has shown, as a tree: a node is a frame (code, instruction, owner)
// called from its parent node. Finding a stack compares every frame, so two stacks are never
// taken for one another. Nodes stand in one array, found by a hash table of their numbers.
//
//   root ── main:12 ── train:40 ─┬─ forward:7 ── linear:3     numbers: 0 root, 1, 2, …
//                                └─ step:9
//
// One thread's own; not thread-safe. Memory: 48 to 96 bytes a node, at most max_nodes of them;
// then it says full() and is to be cleared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "interpose/ground/recorder/stack_table.h"
#include "interpose/sight/python/frame_walk.h"

namespace memtrace::python_stack {

using node_number = std::uint32_t;

inline constexpr node_number root = 0;     // no caller
inline constexpr node_number omitted = 1;  // stands for callers that were left out
inline constexpr node_number no_node = 0xffff'ffff;

struct stack_node {
  frame_key key;
  node_number parent;
  std::uint32_t line;
  stack_id id;  // of the stack that ends here; 0 until it was asked for
  // Those found last: a loop goes to and fro between an allocation's instruction and its free's.
  node_number recent_child = no_node;
  node_number other_child = no_node;
  bool shown = true;
};

class stack_tree {
 public:
  static constexpr std::size_t max_nodes = 1 << 17;

  // A child found lately is most often the one: a comparison instead of hashing.
  [[nodiscard]] node_number find(node_number parent, frame_key key) noexcept {
    if (capacity_ == 0) return no_node;
    stack_node& caller = nodes_[parent];
    if (is_child(caller.recent_child, key)) return caller.recent_child;
    std::swap(caller.recent_child, caller.other_child);
    if (is_child(caller.recent_child, key)) return caller.recent_child;
    return caller.recent_child = search(parent, key);
  }

  // no_node when it is full() or there is no memory.
  [[nodiscard]] node_number add(const stack_node& node) noexcept;
  [[nodiscard]] stack_node& operator[](node_number number) noexcept { return nodes_[number]; }
  [[nodiscard]] bool full() const noexcept { return count_ >= max_nodes; }

  // Nodes of these code objects, and with them those below, are found no more.
  void forget(std::span<const address> codes) noexcept;
  void clear() noexcept;

 private:
  [[nodiscard]] bool is_child(node_number child, frame_key key) const noexcept {
    return child != no_node && nodes_[child].key == key;
  }
  [[nodiscard]] node_number search(node_number parent, frame_key key) const noexcept {
    for (std::size_t at = slot_of(parent, key);; at = (at + 1) & mask()) {
      const node_number number = slots_[at];
      if (number == no_node) return no_node;
      const stack_node& node = nodes_[number];
      if (node.key == key && node.parent == parent) return number;
    }
  }

  [[nodiscard]] std::size_t mask() const noexcept { return capacity_ * 2 - 1; }
  [[nodiscard]] std::size_t slot_of(node_number parent, frame_key key) const noexcept {
    std::uint64_t hash = key.code_and_owner * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 32) ^ key.instruction) * 0xff51afd7ed558ccdu;
    hash = (hash ^ (hash >> 32) ^ parent) * 0xc4ceb9fe1a85ec53u;
    return static_cast<std::size_t>(hash >> 32) & mask();
  }
  [[nodiscard]] bool grow() noexcept;
  void add_callers() noexcept;
  void place(node_number number) noexcept;

  std::unique_ptr<stack_node[]> nodes_;
  std::unique_ptr<node_number[]> slots_;  // twice as many as nodes
  std::size_t capacity_ = 0;
  std::size_t count_ = 0;
};

}  // namespace memtrace::python_stack
