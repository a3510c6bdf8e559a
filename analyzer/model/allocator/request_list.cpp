// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/request_list.h"

#include <stdexcept>

namespace memtrace::allocator {

namespace {

constexpr std::size_t fewest_slots = 64;

[[nodiscard]] std::uint64_t mixed(const request& kind) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
  const auto rest =
      std::uint64_t{kind.stream} << 16 | std::uint64_t{kind.pool} << 4 | kind.what_bits;
  const auto product = (kind.size ^ rest << 32 ^ rest) * odd;
  return product ^ product >> 29;
}

}  // namespace

const request request_list::at(std::size_t index) const {
  if (index >= size()) throw std::out_of_range("request_list::at");
  return (*this)[index];
}

std::uint32_t request_list::kind_of(const request& one) {
  auto kind = one;
  kind.block = 0;
  if (kinds_.size() * 2 >= slots_.size()) widen();
  auto& slot = slots_[slot_of(kind)];
  if (slot == 0) {
    kinds_.push_back(kind);
    slot = static_cast<std::uint32_t>(kinds_.size());
  }
  return slot - 1;
}

std::size_t request_list::slot_of(const request& kind) const {
  const auto mask = slots_.size() - 1;
  for (auto slot = static_cast<std::size_t>(mixed(kind)) & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0 || kinds_[slots_[slot] - 1] == kind) return slot;
  }
}

void request_list::widen() {
  slots_.assign(slots_.empty() ? fewest_slots : 2 * slots_.size(), 0);
  for (std::uint32_t i = 0; i < kinds_.size(); ++i) slots_[slot_of(kinds_[i])] = i + 1;
}

}  // namespace memtrace::allocator
