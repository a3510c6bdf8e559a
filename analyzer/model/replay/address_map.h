// SPDX-License-Identifier: Apache-2.0
//
// Address → value, for the live blocks: open addressing with linear probing, so that a lookup
// costs one cache line, and erasing moves the followers back, so that no tombstones pile up.
// Memory: at most four times the live entries, as many as ever lived at once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace memtrace::replay {

template <class Value>
class address_map {
 public:
  [[nodiscard]] std::size_t size() const { return count_; }

  [[nodiscard]] Value* find(std::uint64_t address) {
    if (count_ == 0) return nullptr;
    for (auto i = home(address); slots_[i].used; i = next(i)) {
      if (slots_[i].address == address) return &slots_[i].value;
    }
    return nullptr;
  }

  // The value at this address, made if there was none. Valid until the next insert or erase.
  [[nodiscard]] Value& insert(std::uint64_t address) {
    if (count_ * 2 >= slots_.size()) grow();
    auto i = home(address);
    while (slots_[i].used && slots_[i].address != address) i = next(i);
    if (!slots_[i].used) {
      slots_[i] = {address, Value{}, true};
      ++count_;
    }
    return slots_[i].value;
  }

  bool erase(std::uint64_t address) {
    if (count_ == 0) return false;
    auto hole = home(address);
    while (slots_[hole].used && slots_[hole].address != address) hole = next(hole);
    if (!slots_[hole].used) return false;
    // Whatever probed past the hole must still be found from its home.
    for (auto i = next(hole); slots_[i].used; i = next(i)) {
      const auto from_home = (i - home(slots_[i].address)) & mask();
      const auto from_hole = (i - hole) & mask();
      if (from_home < from_hole) continue;
      slots_[hole] = std::move(slots_[i]);
      hole = i;
    }
    slots_[hole] = slot{};
    --count_;
    return true;
  }

  template <class Function>
  void for_each(Function&& function) const {
    for (const auto& entry : slots_) {
      if (entry.used) function(entry.address, entry.value);
    }
  }

 private:
  struct slot {
    std::uint64_t address = 0;
    Value value{};
    bool used = false;
  };

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & mask(); }
  [[nodiscard]] std::size_t home(std::uint64_t address) const {
    // Block addresses are multiples of 512 at regular distances: mix before masking.
    auto x = address * 0x9e3779b97f4a7c15u;
    x ^= x >> 32;
    return static_cast<std::size_t>(x * 0xd6e8feb86659fd93u >> 20) & mask();
  }
  void grow() {
    std::vector<slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    count_ = 0;
    for (auto& entry : old) {
      if (entry.used) insert(entry.address) = std::move(entry.value);
    }
  }

  std::vector<slot> slots_;  // a power of two
  std::size_t count_ = 0;
};

}  // namespace memtrace::replay
