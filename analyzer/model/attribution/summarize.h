// SPDX-License-Identifier: Apache-2.0
//
// From what was gathered while reading to the results.
#pragma once

#include "analyzer/model/attribution/compose.h"
#include "analyzer/model/attribution/device_state.h"
#include "analyzer/model/attribution/module_table.h"
#include "analyzer/model/attribution/parameter_table.h"
#include "analyzer/model/attribution/result.h"

namespace memtrace::attribution {

// Once a device, after its finish().
[[nodiscard]] device_result summarize(device_state& device, const composer& with);

// What concerns the whole run.
void summarize_run(const run_context& run, const module_table& modules,
                   const parameter_table& parameters, result& found);

}  // namespace memtrace::attribution
