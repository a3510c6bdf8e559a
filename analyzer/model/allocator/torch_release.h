// SPDX-License-Identifier: Apache-2.0
//
// "2.11.0+cu130" as what can be compared.
#pragma once

#include <compare>
#include <string_view>

namespace memtrace::allocator {

struct torch_release {
  int major = 0;
  int minor = 0;
  [[nodiscard]] auto operator<=>(const torch_release&) const = default;
};

// That everything here was checked against.
inline constexpr torch_release newest_release{2, 11};

// The newest where it is not said, or cannot be read.
[[nodiscard]] torch_release release_of(std::string_view torch_version);

}  // namespace memtrace::allocator
