// SPDX-License-Identifier: Apache-2.0
//
// Two series of bytes beside each other, in text, on one scale:
//
//   before                        after
//      2 GiB ┤        ░░░███     ┤
//            ┤   ░░░██████████   ┤
//      1 GiB ┤░░██████████████   ┤░░░░░░░░░░░░░░
//            ┤████████████████   ┤▁▁▁▁▁▁▁▁▁▁▁▁▁▁
//
// █ is allocated between steps, ░ on top of it within them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace memtrace::text {

struct chart_series {
  std::uint64_t steps = 0;
  std::uint64_t stride = 1;         // steps that a value stands for
  std::vector<std::uint64_t> left;  // between steps
  std::vector<std::uint64_t> peak;  // within them; empty: not known
};

struct chart_size {
  std::size_t rows = 6;
  std::size_t columns = 34;  // of each of the two
};

struct twin_chart {
  std::vector<std::string> lines;
  std::size_t label_columns = 0;  // before the first of the two
  bool one_step_scale = true;  // false: one run is so much shorter that it has a scale of its own
};

// No lines where neither has values.
[[nodiscard]] twin_chart draw_twin_chart(const chart_series& before, const chart_series& after,
                                         const chart_size& size = {});

}  // namespace memtrace::text
