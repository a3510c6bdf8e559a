// SPDX-License-Identifier: Apache-2.0
//
// Two runs side by side for a person at a terminal: one picture, then what changed.
#pragma once

#include <string>

#include "analyzer/base/text/page.h"
#include "analyzer/show/diff/diff.h"

namespace memtrace::diff {

[[nodiscard]] std::string to_text(const run_difference& runs, const text::style& style);

}  // namespace memtrace::diff
