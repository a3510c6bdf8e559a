// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/run/model.h"
#include "analyzer/text/page.h"

namespace memtrace::terminal {

// One line where host memory came near to its limit; else nothing.
void add_host_limit(text::page& out, const run::run_report& processes);

}  // namespace memtrace::terminal
