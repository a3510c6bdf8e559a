// SPDX-License-Identifier: Apache-2.0
//
// Numbers for the kinds of blocks that a timeline counts apart: the categories, and beside them the
// places of which it is known only at the end what comes from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/model/attribution/kept_block.h"

namespace memtrace::history {

class kinds_seen {
 public:
  static constexpr std::size_t most_places = 2048;

  // Of a block as it was judged when it ended. A guess beyond `most_places` stays what it is.
  [[nodiscard]] std::uint32_t of(const attribution::kept_block& block) {
    const auto category = static_cast<std::uint32_t>(block.found.what);
    if (!block.found.guess) return category;
    const key wanted{block.where, block.found.what};
    const auto known = numbers_.find(wanted);
    if (known != numbers_.end()) return known->second;
    if (places_.size() == most_places) return category;
    const auto number = first_place + static_cast<std::uint32_t>(places_.size());
    places_.push_back(block);
    numbers_.emplace(wanted, number);
    return number;
  }
  // The first block of each, by number from first_place.
  [[nodiscard]] const std::vector<attribution::kept_block>& places() const { return places_; }

  static constexpr auto first_place = static_cast<std::uint32_t>(attribution::category_count);

 private:
  struct key {
    attribution::place_key where;
    attribution::category guess{};
    [[nodiscard]] bool operator==(const key&) const = default;
  };
  struct hasher {
    [[nodiscard]] std::size_t operator()(const key& one) const {
      return attribution::hash_of(one.where) + static_cast<std::size_t>(one.guess);
    }
  };
  std::unordered_map<key, std::uint32_t, hasher> numbers_;
  std::vector<attribution::kept_block> places_;
};

}  // namespace memtrace::history
