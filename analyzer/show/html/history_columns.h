// SPDX-License-Identifier: Apache-2.0
//
// One device's history as facts and columns of a page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/run/model/model.h"
#include "analyzer/show/html/columns.h"
#include "analyzer/show/html/names.h"

namespace memtrace::html {

struct shown_history {
  const run::process_report& process;
  const run::device_report& device;
  const history::device_history& of;
  std::size_t number = 0;  // of the page's histories
};

// Blocks lighter than `least_weight` are left out.
[[nodiscard]] nlohmann::ordered_json write_history(const shown_history& shown, double least_weight,
                                                   const std::vector<std::uint32_t>& nodes,
                                                   page_names& names, column_writer& columns);

}  // namespace memtrace::html
