// SPDX-License-Identifier: Apache-2.0
//
// The parameters of the models as rows of a report, one for each storage.
#pragma once

#include <vector>

#include "analyzer/model/attribution/module_table.h"
#include "analyzer/model/attribution/parameter_table.h"
#include "analyzer/model/attribution/result.h"

namespace memtrace::attribution {

// `bytes`: of each of parameters.all() on a device. Parameters without any are left out.
[[nodiscard]] std::vector<parameter_row> rows_of(
    const parameter_table& parameters, const std::vector<by_category<std::uint64_t>>& bytes,
    const module_table& modules, const trace::dictionary& names);

// Into the totals of the run.
void sum_parameters(const parameter_table& parameters, result& run);

}  // namespace memtrace::attribution
