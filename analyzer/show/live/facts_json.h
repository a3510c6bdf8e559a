// SPDX-License-Identifier: Apache-2.0
//
// The figures of a frame for programs: bytes, and names as in the report's JSON.
#pragma once

#include <string>
#include <vector>

#include "analyzer/show/live/frame.h"

namespace memtrace::live {

[[nodiscard]] std::string facts_json(const std::vector<shown_run>& all);

}  // namespace memtrace::live
