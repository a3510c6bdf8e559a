// SPDX-License-Identifier: Apache-2.0
//
// From the blocks of a moment to its composition: groups, categories and modules, each of which
// sums to the total.
#pragma once

#include <vector>

#include "analyzer/model/attribution/device_state.h"
#include "analyzer/model/attribution/module_table.h"
#include "analyzer/model/attribution/parameter_table.h"
#include "analyzer/model/attribution/result.h"
#include "analyzer/model/attribution/run_context.h"
#include "analyzer/model/attribution/step_series.h"
#include "analyzer/model/attribution/watch.h"

namespace memtrace::attribution {

struct composer {
  run_context& run;
  const module_table& modules;
  const parameter_table& parameters;

  // `with_blocks`: keep each block, too. `by_parameter`, unless null, gets the bytes of each
  // parameter in parameters.all(). An empty composition if the moment never came.
  [[nodiscard]] composition compose(const watch& moment, const steps_found& steps, bool with_blocks,
                                    std::vector<by_category<std::uint64_t>>* by_parameter) const;
};

// From what was gathered while reading to the results.
// Once a device, after its finish().
[[nodiscard]] device_result summarize(device_state& device, const composer& with);

// Sums up the whole run.
void summarize_run(const run_context& run, const module_table& modules,
                   const parameter_table& parameters, result& found);

}  // namespace memtrace::attribution
