// SPDX-License-Identifier: Apache-2.0
//
// The address policies that are replayed where nobody knows what the driver would do.
#pragma once

#include <array>
#include <cstdint>

#include "analyzer/model/allocator/what_if.h"

namespace memtrace::allocator {

struct placement {
  address_policy policy{};
  std::uint64_t seed = 0;
};

inline constexpr std::array placements = {
    placement{address_policy::lowest, 0}, placement{address_policy::descending, 0},
    placement{address_policy::random, 1}, placement{address_policy::random, 2},
    placement{address_policy::random, 3},
};

}  // namespace memtrace::allocator
