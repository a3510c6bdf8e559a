// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/report/json_memory.h"
#include "analyzer/report/model.h"

namespace memtrace::report {

// Of a device: "expected" (terms) and "room".
[[nodiscard]] json expected_json(const process_report& process, const device_report& device);
[[nodiscard]] json room_json(const process_report& process, const device_report& device);

}  // namespace memtrace::report
