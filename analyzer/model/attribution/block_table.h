// SPDX-License-Identifier: Apache-2.0
//
// The live blocks of a device by address. The lives stay where they are while others come and go.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "analyzer/model/attribution/block_life.h"
#include "analyzer/model/replay/address_map.h"

namespace memtrace::attribution {

class block_table {
 public:
  [[nodiscard]] block_life* find(std::uint64_t address) {
    const auto* const place = places_.find(address);
    return place == nullptr ? nullptr : &lives_[*place];
  }
  // There must be none at this address.
  [[nodiscard]] block_life& add(std::uint64_t address) {
    std::uint32_t place = 0;
    if (free_.empty()) {
      place = static_cast<std::uint32_t>(lives_.size());
      lives_.emplace_back();
    } else {
      place = free_.back();
      free_.pop_back();
      lives_[place] = block_life{};
    }
    places_.insert(address) = place;
    lives_[place].address = address;
    return lives_[place];
  }
  void remove(std::uint64_t address) {
    const auto* const place = places_.find(address);
    if (place == nullptr) return;
    free_.push_back(*place);
    places_.erase(address);
  }
  template <class Function>
  void for_each(Function&& function) const {
    places_.for_each([&](std::uint64_t, std::uint32_t place) { function(lives_[place]); });
  }

 private:
  replay::address_map<std::uint32_t> places_;
  std::deque<block_life> lives_;
  std::vector<std::uint32_t> free_;
};

}  // namespace memtrace::attribution
