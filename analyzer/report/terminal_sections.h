// SPDX-License-Identifier: Apache-2.0
//
// The parts of the terminal report that tell of one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/model.h"
#include "analyzer/report/page.h"

namespace memtrace::report {

// Capacity, peaks, what is reserved but unused and why, what lies outside PyTorch. Up to 7 lines.
void add_device(page& out, const process_report& process, const device_report& device);

// What was asked for, where the memory was, and what of it was free. Up to 4 lines.
void add_oom(page& out, const process_report& process, const oom_report& oom);

// The heading, then the lines of code that hold most, at most `most_rows` with the sum of the rest.
void add_holders(page& out, const std::vector<call_site>& sites, std::uint64_t total,
                 const std::string& heading, std::size_t most_rows);

// The parts that are not empty.
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view between);

}  // namespace memtrace::report
