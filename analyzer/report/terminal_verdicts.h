// SPDX-License-Identifier: Apache-2.0
//
// Does memory grow, where, what keeps it, and what to write instead: for a person at a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analyzer/report/model.h"
#include "analyzer/report/page.h"

namespace memtrace::report {

// What grows, most urgent first, and habits that cost; nothing where nothing does. At most `room`
// lines of at most `columns` characters.
void add_growth(page& out, const process_report& process, const device_report& device,
                std::size_t room, std::size_t columns);

// Of a device that does not grow: that, or why it cannot be told, in a line. Empty: it grows, or
// there is no verdict.
[[nodiscard]] std::string calm_line(const process_report& process, std::uint32_t device);

// ", accumulates 3.00 MiB a step", to be appended to a line about a device. Empty: it does not.
[[nodiscard]] std::string growth_in_brief(const process_report& process, std::uint32_t device);

}  // namespace memtrace::report
