// SPDX-License-Identifier: Apache-2.0
//
// How lines are shown: on a terminal, or into a file.
#pragma once

#include <cstddef>

namespace memtrace::text {

struct style {
  bool colour = false;
  unsigned width = 0;  // columns; longer lines are cut, unless 0
};

// That text is made for where no terminal says more.
inline constexpr std::size_t usual_columns = 96;

[[nodiscard]] constexpr std::size_t columns_of(const style& how) {
  return how.width == 0 ? usual_columns : how.width;
}

}  // namespace memtrace::text
