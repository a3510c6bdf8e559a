// SPDX-License-Identifier: Apache-2.0
//
// What to change, ranked by what it saves, in the terminal.
#pragma once

#include <cstddef>

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/model.h"

namespace memtrace::terminal {

// How many lines add_advice would take at most; 0: there is nothing to say.
[[nodiscard]] std::size_t advice_lines(const run::process_report& process, std::size_t columns);
// The first few, of at most `room` lines.
void add_advice(text::page& out, const run::process_report& process, std::size_t room,
                std::size_t columns);

// All of them, with evidence, cost and when not to take them.
void add_advice_in_full(text::page& out, const run::process_report& process, std::size_t columns);

}  // namespace memtrace::terminal
