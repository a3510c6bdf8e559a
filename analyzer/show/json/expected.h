// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/run/model/model.h"
#include "analyzer/show/json/memory.h"

namespace memtrace::as_json {

// Of a device: "expected" (terms) and "room".
[[nodiscard]] json expected_json(const run::process_report& process,
                                 const run::device_report& device);
[[nodiscard]] json room_json(const run::process_report& process, const run::device_report& device);

}  // namespace memtrace::as_json
