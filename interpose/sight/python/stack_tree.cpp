// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/stack_tree.h"

#include <algorithm>
#include <new>
#include <utility>

namespace memtrace::python_stack {

namespace {

constexpr std::size_t first_capacity = 512;
constexpr node_number first_number = 2;  // after root and omitted

}  // namespace

// Nodes 0 and 1, which no frame leads to.
void stack_tree::add_callers() noexcept {
  nodes_[root] = nodes_[omitted] = {{0, 0}, no_node, 0, 0};
  count_ = first_number;
}

void stack_tree::place(node_number number) noexcept {
  std::size_t at = slot_of(nodes_[number].parent, nodes_[number].key);
  while (slots_[at] != no_node) at = (at + 1) & mask();
  slots_[at] = number;
}

bool stack_tree::grow() noexcept {
  const std::size_t capacity = capacity_ == 0 ? first_capacity : capacity_ * 2;
  std::unique_ptr<node_number[]> slots(new (std::nothrow) node_number[capacity * 2]);
  std::unique_ptr<stack_node[]> nodes(new (std::nothrow) stack_node[capacity]);
  if (slots == nullptr || nodes == nullptr) return false;
  std::copy_n(nodes_.get(), count_, nodes.get());
  slots_ = std::move(slots);
  nodes_ = std::move(nodes);
  capacity_ = capacity;
  std::fill_n(slots_.get(), capacity_ * 2, no_node);
  if (count_ == 0) add_callers();
  for (std::size_t i = first_number; i < count_; ++i) place(static_cast<node_number>(i));
  return true;
}

node_number stack_tree::add(const stack_node& node) noexcept {
  if (full()) return no_node;
  if (count_ >= capacity_ && !grow()) return no_node;
  const auto number = static_cast<node_number>(count_++);
  nodes_[number] = node;
  place(number);
  return number;
}

void stack_tree::forget(std::span<const address> codes) noexcept {
  for (std::size_t i = first_number; i < count_; ++i) {
    frame_key& key = nodes_[i].key;
    // Code 0 is in no frame: the node stays in its slot, so that others are still found behind it.
    if (std::find(codes.begin(), codes.end(), key.code()) != codes.end()) key = {0, 0};
  }
}

void stack_tree::clear() noexcept {
  if (capacity_ == 0) return;
  std::fill_n(slots_.get(), capacity_ * 2, no_node);
  add_callers();
}

}  // namespace memtrace::python_stack
