// SPDX-License-Identifier: Apache-2.0
//
// Free blocks in ascending order of size, then address: sorted arrays of bounded length in a row,
// nearly always one. An insertion costs at most some 100 entries moved, and one step a full array.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "analyzer/model/allocator/block_slab.h"

namespace memtrace::allocator {

struct free_entry {
  std::uint64_t size = 0;
  std::uint64_t address = 0;
  block_index index = no_block;
  [[nodiscard]] bool operator<(const free_entry& other) const {
    if (size != other.size) return size < other.size;
    if (address != other.address) return address < other.address;
    return index < other.index;
  }
};

class sorted_entries {
 public:
  struct place {
    std::uint32_t row = 0;
    std::uint32_t at = 0;
  };

  [[nodiscard]] bool empty() const { return head_.empty(); }
  [[nodiscard]] const free_entry& operator[](const place& where) const {
    return row(where.row)[where.at];
  }
  [[nodiscard]] static place first() { return {0, 0}; }
  [[nodiscard]] place last() const {
    return {rows(), static_cast<std::uint32_t>(row(rows()).size() - 1)};
  }
  [[nodiscard]] bool is_at(const place& where) const {
    return where.row <= rows() && where.at < row(where.row).size();
  }
  [[nodiscard]] bool advance(place& where) const {
    if (++where.at < row(where.row).size()) return true;
    where.at = 0;
    return ++where.row <= rows();
  }
  [[nodiscard]] bool go_back(place& where) const {
    if (where.at > 0) {
      --where.at;
      return true;
    }
    if (where.row == 0) return false;
    --where.row;
    where.at = static_cast<std::uint32_t>(row(where.row).size() - 1);
    return true;
  }
  // The first of at least so many bytes; not is_at: none.
  [[nodiscard]] place lower_bound(std::uint64_t size) const {
    return lower_bound(free_entry{size, 0, 0});
  }

  void insert(const free_entry& entry) {
    const auto which = row_for(entry);
    auto& into = row(which);
    into.insert(std::lower_bound(into.begin(), into.end(), entry), entry);
    if (into.size() > most_in_a_row) split(which);
  }
  bool erase(const free_entry& entry) {
    const auto where = lower_bound(entry);
    if (!is_at(where) || (*this)[where].index != entry.index) return false;
    auto& from = row(where.row);
    from.erase(from.begin() + where.at);
    if (from.empty()) drop(where.row);
    return true;
  }

 private:
  static constexpr std::size_t most_in_a_row = 128;
  using entries = std::vector<free_entry>;

  [[nodiscard]] std::uint32_t rows() const { return static_cast<std::uint32_t>(more_.size()); }
  [[nodiscard]] entries& row(std::uint32_t which) { return which == 0 ? head_ : more_[which - 1]; }
  [[nodiscard]] const entries& row(std::uint32_t which) const {
    return which == 0 ? head_ : more_[which - 1];
  }
  // The last row that begins no later.
  [[nodiscard]] std::uint32_t row_for(const free_entry& entry) const {
    if (more_.empty()) return 0;
    const auto after = std::upper_bound(
        more_.begin(), more_.end(), entry,
        [](const free_entry& wanted, const entries& some) { return wanted < some.front(); });
    return static_cast<std::uint32_t>(after - more_.begin());
  }
  [[nodiscard]] place lower_bound(const free_entry& entry) const {
    const auto which = row_for(entry);
    const auto& in = row(which);
    const auto at =
        static_cast<std::uint32_t>(std::lower_bound(in.begin(), in.end(), entry) - in.begin());
    if (at == in.size() && which < rows()) return {which + 1, 0};
    return {which, at};
  }
  void split(std::uint32_t which) {
    auto& full = row(which);
    const auto half = full.begin() + static_cast<std::ptrdiff_t>(full.size() / 2);
    entries upper(half, full.end());
    full.erase(half, full.end());
    more_.insert(more_.begin() + which, std::move(upper));
  }
  void drop(std::uint32_t which) {
    if (which > 0) {
      more_.erase(more_.begin() + (which - 1));
    } else if (!more_.empty()) {
      head_ = std::move(more_.front());
      more_.erase(more_.begin());
    }
  }

  entries head_;
  std::vector<entries> more_;  // none of them empty
};

}  // namespace memtrace::allocator
