// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/found_objects.h"

namespace memtrace::heap_scan {

namespace {

constexpr std::size_t first_slots = 1u << 14;

std::size_t hash_of(address object) noexcept {
  return static_cast<std::size_t>((object >> 4) * 0x9e3779b97f4a7c15u >> 20);
}

}  // namespace

found_objects::found_objects(std::uint64_t most, deadline& until) noexcept
    : until_(until), objects_(most < first_root - 1 ? most : first_root - 1), slots_(first_slots) {
  full_ = objects_.capacity() == 0 || slots_.capacity() == 0;
}

std::size_t found_objects::slot_in(const mapped_array<std::uint32_t>& slots,
                                   address object) const noexcept {
  const std::size_t mask = slots.capacity() - 1;
  std::size_t place = hash_of(object) & mask;
  while (slots[place] != 0 && objects_[slots[place] - 1].object != object) {
    place = (place + 1) & mask;
  }
  return place;
}

void found_objects::make_room() noexcept {
  mapped_array<std::uint32_t> larger(slots_.capacity() * 2);
  if (larger.capacity() == 0) {
    full_ = true;
    return;
  }
  for (node each = 0; each < size() && !full_; ++each) {
    larger[slot_in(larger, objects_[each].object)] = each + 1;
    full_ = until_.is_over();
  }
  if (!full_) slots_.swap(larger);
}

node found_objects::add(address object, std::uint32_t parent) noexcept {
  if (full_) return no_node;
  const std::size_t place = slot_of(object);
  if (slots_[place] != 0) return no_node;
  if (!objects_.push({object, parent})) {
    full_ = true;
    return no_node;
  }
  slots_[place] = size();
  const node added = size() - 1;
  if (size() * std::size_t{2} > slots_.capacity()) make_room();
  return added;
}

node found_objects::find(address object) const noexcept {
  if (slots_.capacity() == 0) return no_node;
  const std::uint32_t number = slots_[slot_of(object)];
  return number == 0 ? no_node : number - 1;
}

}  // namespace memtrace::heap_scan
