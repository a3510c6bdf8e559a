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

// Capacity, peaks, what is reserved but unused and why, what lies outside PyTorch. Up to 6 lines.
void add_device(page& out, const process_report& process, const device_report& device);

// What was asked for, where the memory was, and what of it was free. Up to 4 lines.
void add_oom(page& out, const process_report& process, const oom_report& oom);

// The parts that are not empty.
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view between);

}  // namespace memtrace::report
