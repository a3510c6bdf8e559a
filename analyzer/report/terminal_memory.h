// SPDX-License-Identifier: Apache-2.0
//
// The parts of the terminal report that tell of one moment: what the memory is, whose it is, and
// which lines asked for it. Each has a heading, at most so many rows, and the sum of the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report/memory_view.h"
#include "analyzer/report/page.h"

namespace memtrace::report {

void add_categories(page& out, const memory_view& view, const std::string& heading,
                    std::size_t most_rows);
// Nothing where no module is known.
void add_modules(page& out, const memory_view& view, std::size_t most_rows);
void add_lines_of_code(page& out, const std::vector<call_site>& sites, std::uint64_t total,
                       std::size_t most_rows);

// "optimizer states"
[[nodiscard]] std::string words_of(category what);

}  // namespace memtrace::report
