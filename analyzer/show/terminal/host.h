// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/model.h"

namespace memtrace::terminal {

// One line where host memory came near to its limit; else nothing.
void add_host_limit(text::page& out, const run::run_report& processes);

}  // namespace memtrace::terminal
