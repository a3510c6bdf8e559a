// SPDX-License-Identifier: Apache-2.0
//
// What the formulas of memtrace estimate expect, beside what was measured.
#pragma once

#include <string>

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/model.h"

namespace memtrace::terminal {

void add_expected_in_full(text::page& out, const run::process_report& process,
                          const run::device_report& device);

// A line where a term is more than 10 % above what was expected, and worth it beside the peak;
// empty: none is. Less than expected is for the full view.
[[nodiscard]] std::string expected_in_brief(const run::process_report& process,
                                            const run::device_report& device);

}  // namespace memtrace::terminal
