// SPDX-License-Identifier: Apache-2.0
//
// From an open trace to its report: read, replayed, summed up.
#pragma once

#include <functional>
#include <string>

#include "analyzer/report/model.h"
#include "analyzer/trace/reader.h"

namespace memtrace::report {

// Damage and truncation are in the report's completeness.
[[nodiscard]] process_report load(
    const std::string& path, trace::reader& reader,
    const std::function<void(const trace::progress&)>& on_progress = {});

}  // namespace memtrace::report
