// SPDX-License-Identifier: Apache-2.0
//
// The parts of the terminal report that tell of one moment: what the memory is, whose it is, and
// which lines asked for it. Each has a heading, at most so many rows, and the sum of the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/memory_view.h"

namespace memtrace::terminal {

void add_categories(text::page& out, const run::memory_view& view, const std::string& heading,
                    std::size_t most_rows);
// Nothing where no module is known.
void add_modules(text::page& out, const run::memory_view& view, std::size_t most_rows);
void add_lines_of_code(text::page& out, const std::vector<run::call_site>& sites,
                       std::uint64_t total, std::size_t most_rows);

}  // namespace memtrace::terminal
