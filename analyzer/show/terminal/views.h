// SPDX-License-Identifier: Apache-2.0
//
// One kind of row in full, for every device of a run: what the overview has no room for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/model.h"

namespace memtrace::terminal {

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
