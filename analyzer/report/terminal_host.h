// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/report/model.h"
#include "analyzer/report/page.h"

namespace memtrace::report {

// One line where host memory came near to its limit; else nothing.
void add_host_limit(page& out, const run_report& processes);

}  // namespace memtrace::report
