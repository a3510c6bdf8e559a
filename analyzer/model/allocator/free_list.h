// SPDX-License-Identifier: Apache-2.0
//
// The cached blocks of one pool and stream in ascending order of size, then address: what best fit
// looks through.
//
//   size ─► group (power of two) ─► bin (32 a group) ─► few sorted entries
//
// Which groups and bins are not empty is kept in two levels of bits, so that the next larger block
// is a few instructions away.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "analyzer/model/allocator/block_slab.h"
#include "analyzer/model/allocator/sorted_entries.h"

namespace memtrace::allocator {

class free_list {
 public:
  // A place in the list; invalid after any change of the list.
  struct cursor {
    std::uint32_t bin = none;
    sorted_entries::place place{};
    [[nodiscard]] explicit operator bool() const { return bin != none; }
  };

  void insert(const free_entry& entry) {
    const auto bin = bin_of(entry.size);
    auto& group = groups_[bin / bins];
    if (group == nullptr) group = std::make_unique<bin_group>();
    (*group)[bin % bins].insert(entry);
    used_bins_[bin / bins] |= 1u << (bin % bins);
    used_groups_ |= std::uint64_t{1} << (bin / bins);
  }

  void erase(const free_entry& entry) {
    const auto bin = bin_of(entry.size);
    auto& group = groups_[bin / bins];
    if (group == nullptr || !(*group)[bin % bins].erase(entry)) return;
    if (!(*group)[bin % bins].empty()) return;
    used_bins_[bin / bins] &= ~(1u << (bin % bins));
    if (used_bins_[bin / bins] == 0) used_groups_ &= ~(std::uint64_t{1} << (bin / bins));
  }

  [[nodiscard]] const free_entry& operator[](const cursor& at) const {
    return (*groups_[at.bin / bins])[at.bin % bins][at.place];
  }

  // The smallest of at least so many bytes.
  [[nodiscard]] cursor lower_bound(std::uint64_t size) const {
    const auto bin = bin_of(size);
    if ((used_bins_[bin / bins] >> (bin % bins) & 1u) != 0) {
      const auto& entries = (*groups_[bin / bins])[bin % bins];
      const auto place = entries.lower_bound(size);
      if (entries.is_at(place)) return {bin, place};
    }
    return first_from(bin + 1);
  }
  [[nodiscard]] cursor first() const { return first_from(0); }
  [[nodiscard]] cursor last() const { return last_before(bins * group_count); }
  [[nodiscard]] cursor next(cursor at) const {
    const auto& entries = (*groups_[at.bin / bins])[at.bin % bins];
    if (entries.advance(at.place)) return at;
    return first_from(at.bin + 1);
  }
  [[nodiscard]] cursor previous(cursor at) const {
    const auto& entries = (*groups_[at.bin / bins])[at.bin % bins];
    if (entries.go_back(at.place)) return at;
    return last_before(at.bin);
  }

 private:
  static constexpr std::uint32_t bins = 32;
  static constexpr std::uint32_t group_count = 64;
  static constexpr std::uint32_t none = bins * group_count;
  using bin_group = std::array<sorted_entries, bins>;

  // The five bits after the leading one.
  [[nodiscard]] static std::uint32_t bin_of(std::uint64_t size) {
    const auto power = 63u - static_cast<unsigned>(std::countl_zero(size | 32));
    return power * bins + static_cast<std::uint32_t>(size >> (power - 5) & (bins - 1));
  }
  [[nodiscard]] cursor first_from(std::uint32_t bin) const {
    if (bin >= none) return {};
    auto group = bin / bins;
    auto used = used_bins_[group] >> (bin % bins) << (bin % bins);
    if (used == 0) {
      const auto above = group + 1 < group_count ? used_groups_ >> (group + 1) << (group + 1) : 0;
      if (above == 0) return {};
      group = static_cast<std::uint32_t>(std::countr_zero(above));
      used = used_bins_[group];
    }
    const auto found = group * bins + static_cast<std::uint32_t>(std::countr_zero(used));
    return {found, sorted_entries::first()};
  }
  [[nodiscard]] cursor last_before(std::uint32_t bin) const {
    if (bin == 0) return {};
    auto group = (bin - 1) / bins;
    const auto kept = (bin - 1) % bins + 1;  // of the lowest bits
    auto used = kept == bins ? used_bins_[group] : used_bins_[group] & ((1u << kept) - 1);
    if (used == 0) {
      const auto below = used_groups_ & ((std::uint64_t{1} << group) - 1);
      if (below == 0) return {};
      group = 63u - static_cast<unsigned>(std::countl_zero(below));
      used = used_bins_[group];
    }
    const auto found = group * bins + 31u - static_cast<unsigned>(std::countl_zero(used));
    return {found, (*groups_[found / bins])[found % bins].last()};
  }

  std::array<std::unique_ptr<bin_group>, group_count> groups_;
  std::array<std::uint32_t, group_count> used_bins_{};
  std::uint64_t used_groups_ = 0;
};

}  // namespace memtrace::allocator
