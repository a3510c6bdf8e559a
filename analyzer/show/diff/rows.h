// SPDX-License-Identifier: Apache-2.0
//
// What the memory was at two peaks, row by row: by category, by module, by line of code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/run/model/memory_view.h"

namespace memtrace::diff {

// Something that has memory at one of two moments, or at both.
struct changed_row {
  std::string name;
  std::string name_before;  // where it is another: a line that moved; else empty
  attribution::category what = attribution::category::unknown;  // of a line of code
  std::uint64_t before = 0;
  std::uint64_t after = 0;

  [[nodiscard]] std::int64_t difference() const {
    return static_cast<std::int64_t>(after) - static_cast<std::int64_t>(before);
  }
};

// All without those that are equal in both; the largest difference first.
[[nodiscard]] std::vector<changed_row> compare_categories(const run::memory_view& before,
                                                          const run::memory_view& after);
// A module's own memory, without its submodules'; repeated layers as one.
[[nodiscard]] std::vector<changed_row> compare_modules(const run::memory_view& before,
                                                       const run::memory_view& after);
// A line that is in one run only goes with one of the same function and category in the other:
// code that is edited moves.
[[nodiscard]] std::vector<changed_row> compare_lines(const run::memory_view& before,
                                                     const run::memory_view& after);

}  // namespace memtrace::diff
