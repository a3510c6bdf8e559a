// SPDX-License-Identifier: Apache-2.0
//
// Of a list sorted by a member, those with one value of it: std::ranges::equal_range, whose result
// clang 14 cannot compile with GCC 12's library.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

namespace memtrace::advice {

template <class Item, class Value>
[[nodiscard]] std::span<const Item> equal_members(const std::vector<Item>& sorted,
                                                  const Value& value, Value Item::*member) {
  return {std::ranges::lower_bound(sorted, value, {}, member),
          std::ranges::upper_bound(sorted, value, {}, member)};
}

}  // namespace memtrace::advice
