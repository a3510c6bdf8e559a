// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "analyzer/base/statistics/judge.h"
#include "tests/answers/statistics/generator.h"

namespace study {

// The detector was tuned on seeds below the first held-out one, and on no others.
inline constexpr std::uint64_t first_held_out_seed = 1'000'000'000;

struct options {
  std::size_t series = 1000;  // a shape
  bool held_out = false;
  bool list_misses = false;
};

inline constexpr std::size_t shapes = 8;

// Rows: the truth; columns: the verdict, in the order of growth::shape.
struct matrix {
  std::array<std::array<std::size_t, shapes>, synthetic::truths> count{};
  void add(synthetic::truth truth, memtrace::growth::shape verdict);
};

struct rates {
  std::size_t leaks = 0, found = 0, harmless = 0, alarms = 0;
  void add(bool leak, bool called);
  [[nodiscard]] double recall() const;  // 0 … 1
  [[nodiscard]] double false_positives() const;
};

[[nodiscard]] rates rates_of(const matrix& seen);
[[nodiscard]] std::uint64_t seed_of(const options& chosen, std::size_t number);
[[nodiscard]] matrix run(const options& chosen);
void print(const options& chosen);

}  // namespace study
