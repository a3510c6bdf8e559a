// SPDX-License-Identifier: Apache-2.0
//
// The report for a person at a terminal: at most 36 lines, whatever the trace.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/model.h"

namespace memtrace::terminal {

inline constexpr unsigned most_lines = 36;

// Several processes: the one that ran out of memory, else the one with the highest peak, in full,
// and the others in a line each as far as there is room.
[[nodiscard]] std::string to_text(const run::run_report& processes, const text::style& style);

// One kind of row in full, for every device of a run: what the overview has no room for.
enum class view_by {
  category,
  module,
  site,
  phase,
  parameter,
  name,
  step,
  fragmentation,
  advice,
  expected,
  rank
};

[[nodiscard]] std::optional<view_by> view_named(std::string_view name);
[[nodiscard]] std::string to_view(const run::run_report& processes, view_by kind,
                                  const text::style& style);

}  // namespace memtrace::terminal
