// SPDX-License-Identifier: Apache-2.0
//
// An audit for a person at a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/base/text/page.h"
#include "analyzer/show/audit/audit.h"

namespace memtrace::audit {

// At most `shown` of the allocations that one of them missed; 0: all.
[[nodiscard]] std::string to_text(const trace_audit& audit, std::size_t shown,
                                  const text::style& style);

}  // namespace memtrace::audit
