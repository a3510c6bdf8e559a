// SPDX-License-Identifier: Apache-2.0
//
// Does memory grow, where, what keeps it, and what to write instead: for a person at a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/model.h"

namespace memtrace::terminal {

// What grows, most urgent first, and habits that cost; nothing where nothing does. At most `room`
// lines of at most `columns` characters.
void add_growth(text::page& out, const run::process_report& process,
                const run::device_report& device, std::size_t room, std::size_t columns);

// Of a device that does not grow: that, or why it cannot be told, in a line. Empty: it grows, or
// there is no verdict.
[[nodiscard]] std::string calm_line(const run::process_report& process, std::uint32_t device);

// ", accumulates 3.00 MiB a step", to be appended to a line about a device. Empty: it does not.
[[nodiscard]] std::string growth_in_brief(const run::process_report& process, std::uint32_t device);

}  // namespace memtrace::terminal
